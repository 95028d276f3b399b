import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Cell, Database } from '../../src/store/duckdb.ts'
import type { Entity } from './columns.ts'
import { flatten, openBase, type RawItem } from './flatten.ts'

let database: Database

beforeAll(async () => {
  database = await openBase()
})

afterAll(() => {
  database.close()
})

/** The digest of each day, by organisation and day. */
async function digests(entity: Entity, items: readonly RawItem[]): Promise<Map<string, Cell>> {
  const day = `distinct org_id || ' ' || activity_date as day`
  const rows = await flatten(database, entity, items, [day, 'day_digest'])
  const found = new Map(rows.map(([key = null, digest = null]) => [text(key), digest]))
  expect(found.size).toBe(rows.length)
  return found
}

function text(cell: Cell): string {
  return typeof cell === 'string' ? cell : ''
}

async function digestOf(entity: Entity, items: readonly RawItem[]): Promise<Cell> {
  const found = await digests(entity, items)
  expect(found.size).toBe(1)
  return found.get('org-1 2026-01-14') ?? null
}

const one = { item: { user_id: 'u1', sessions: 1, languages: ['Go'] } }
const two = { item: { user_id: 'u2', sessions: 2, languages: ['Go'] } }
const nameless = { item: { sessions: 3, languages: ['SQL'] } }

describe.each(['users', 'user_languages'] as const)('the digest of a day of %s', (entity) => {
  it('is 12 characters, the same for the same rows, whatever their order and pages', async () => {
    const digest = await digestOf(entity, [one, two, nameless])
    expect(digest).toMatch(/^[0-9A-F]{12}$/)
    expect(await digestOf(entity, [{ ...nameless, page: 1 }, two, { ...one, page: 4 }])).toBe(
      digest,
    )
  })

  it.each([
    ['a row more', [one, two, nameless]],
    ['a row less', [one]],
    ['another row', [one, { item: { user_id: 'u2', sessions: 3, languages: ['C'] } }]],
    ['a row twice that names no user', [one, two, nameless, nameless]],
    ['that row once more', [one, two, nameless, nameless, nameless]],
  ])('is another with %s', async (_, items) => {
    expect(await digestOf(entity, items)).not.toBe(await digestOf(entity, [one, two]))
  })

  it('does not tell of a row that a later page replaced', async () => {
    const earlier = { item: { user_id: 'u1', sessions: 9, languages: ['C', 'D'] } }
    const items = [earlier, { ...one, page: 1 }, two]
    expect(await digestOf(entity, items)).toBe(await digestOf(entity, [one, two]))
  })

  it('is of each organisation and day alone', async () => {
    const items = [one, { ...two, org: 'org-2' }, { ...two, day: '2026-01-15' }]
    const found = await digests(entity, items)
    expect(found.get('org-1 2026-01-14')).toBe(await digestOf(entity, [one]))
    expect(found.get('org-2 2026-01-14')).toBe(found.get('org-1 2026-01-15'))
    expect(found.get('org-2 2026-01-14')).toBe(await digestOf(entity, [two]))
  })
})

describe('the digest of a day of tokens_days', () => {
  const tokens = (billable: number) => ({
    item: { billable_tokens: 5, by_user: [{ user_id: 'u1', billable_tokens: billable }] },
  })

  it('tells of its users too', async () => {
    const digest = await digestOf('tokens_days', [tokens(1)])
    expect(digest).toMatch(/^[0-9a-f]{12}$/)
    expect(await digestOf('tokens_days', [tokens(1)])).toBe(digest)
    expect(await digestOf('tokens_days', [tokens(2)])).not.toBe(digest)
  })

  it('is of the row that counts', async () => {
    const items = [tokens(1), { ...tokens(2), page: 1 }]
    expect(await digestOf('tokens_days', items)).toBe(await digestOf('tokens_days', [tokens(2)]))
  })
})
