import { describe, expect, it } from 'vitest'
import { validateMetadata } from '../../src/client/json/envelope.ts'

const DAYS = '/api/v1/analytics/tokens?startDate=2026-01-14&endDate=2026-01-20'
const PAGE = '/api/v1/analytics/users?startDate=2026-01-14&endDate=2026-01-14&limit=100'

describe('an answer is held to what it says of itself:', () => {
  it.each<[string, string, unknown]>([
    ['the range that was asked for', DAYS, { start_date: '2026-01-14', end_date: '2026-01-20' }],
    ['a range with times', DAYS, { start_date: '2026-01-14T00:00:00Z', end_date: '2026-01-20' }],
    ['no range', DAYS, { org_id: 'o' }],
    ['a last page', PAGE, { has_more: false }],
    ['a page with one after it', PAGE, { has_more: true, next_cursor: 'u' }],
  ])('%s passes', (_, path, meta) => {
    expect(() => {
      validateMetadata(path, { data: [], meta })
    }).not.toThrow()
  })

  it('no meta passes where there are no pages', () => {
    expect(() => {
      validateMetadata(DAYS, { data: [] })
    }).not.toThrow()
  })

  it.each<[string, string, unknown, string]>([
    ['a later start', DAYS, { start_date: '2026-01-18' }, "'meta.start_date' is 2026-01-18,"],
    ['another end', DAYS, { end_date: '2026-01-19' }, '2026-01-20 was asked for'],
    [
      'a range that is no range',
      DAYS,
      { end_date: 'ann@example.test' },
      'a string of 16 characters',
    ],
    ['a page without meta', PAGE, undefined, "there is no 'meta'"],
    ['a page whose meta is text', PAGE, 'x', "there is no 'meta'"],
  ])('%s does not', (_, path, meta, said) => {
    expect(() => {
      validateMetadata(path, { data: [], meta })
    }).toThrow(said)
  })
})
