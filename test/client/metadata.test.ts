import { describe, expect, it } from 'vitest'
import { validateMetadata } from '../../src/client/json/envelope.ts'

const DAYS = '/api/v1/analytics/tokens?startDate=2026-01-14&endDate=2026-01-20'
const PAGE = '/api/v1/analytics/users?startDate=2026-01-14&endDate=2026-01-14&limit=100'

describe('response metadata', () => {
  it.each<[string, string, unknown]>([
    ['the requested range', DAYS, { start_date: '2026-01-14', end_date: '2026-01-20' }],
    ['a range with times', DAYS, { start_date: '2026-01-14T00:00:00Z', end_date: '2026-01-20' }],
    ['no date range', DAYS, { org_id: 'o' }],
    ['a last page', PAGE, { has_more: false }],
    ['a page with a next one', PAGE, { has_more: true, next_cursor: 'u' }],
  ])('with %s is accepted', (_, path, meta) => {
    expect(() => {
      validateMetadata(path, { data: [], meta })
    }).not.toThrow()
  })

  it('may be absent where there are no pages', () => {
    expect(() => {
      validateMetadata(DAYS, { data: [] })
    }).not.toThrow()
  })

  it.each<[string, string, unknown, string]>([
    ['a later start', DAYS, { start_date: '2026-01-18' }, "'meta.start_date' is 2026-01-18,"],
    ['another end', DAYS, { end_date: '2026-01-19' }, '2026-01-20 was asked for'],
    [
      'an end that is not a date',
      DAYS,
      { end_date: 'ann@example.test' },
      'a string of 16 characters',
    ],
    ['no `meta` on a page', PAGE, undefined, "there is no 'meta'"],
    ['text as `meta` of a page', PAGE, 'x', "there is no 'meta'"],
  ])('with %s is refused', (_, path, meta, message) => {
    expect(() => {
      validateMetadata(path, { data: [], meta })
    }).toThrow(message)
  })
})
