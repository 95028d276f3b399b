import { expect, it } from 'vitest'
import type { Row } from '../../src/lib/duckdb.ts'
import { Lake } from '../support/lake.ts'

const FIRST = '2026-01-14'
const SECOND = '2026-01-15'
const resources = ['users', 'tokens'] as const
const entities = { users: ['users', 'user_languages'], tokens: ['tokens_days'] } as const

const items = {
  users: ['u1', 'u2'].map((id) => ({ user_id: id, languages: ['Go', 'SQL'] })),
  tokens: [{ billable_tokens: 5, by_user: [{ user_id: 'u1', billable_tokens: 5 }] }],
}

/** The digests of an entity's rows, one per day. */
async function digests(lake: Lake, entity: string): Promise<Row[]> {
  await lake.normalize()
  return lake.rows(`select distinct activity_date, day_digest from {${entity}} order by 1`)
}

const perResource = resources.flatMap((resource) =>
  entities[resource].map((entity) => ({ resource, entity })),
)

it.each(perResource)(
  'the day_digest of $entity changes only with the version of its day, and has 12 characters',
  async ({ resource, entity }) => {
    const lake = await Lake.open()
    await lake.land(resource, FIRST, '2026-01-15T03:00:00Z', items[resource])
    const [first] = await digests(lake, entity)
    expect(first?.['day_digest']).toMatch(/^[0-9a-f]{12}$/)

    await lake.land(resource, SECOND, '2026-01-16T03:00:00Z', items[resource])
    const both = await digests(lake, entity)
    expect(both).toHaveLength(2)
    expect(both[0]).toEqual(first)
    expect(both[1]?.['day_digest']).not.toBe(first?.['day_digest'])

    await lake.land(resource, FIRST, '2026-01-17T03:00:00Z', [...items[resource], {}])
    const restated = await digests(lake, entity)
    expect(restated).toHaveLength(2)
    expect(restated[0]?.['day_digest']).not.toBe(first?.['day_digest'])
    expect(restated[1]).toEqual(both[1])
  },
)
