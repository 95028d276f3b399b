import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Row } from '../../src/lib/duckdb.ts'
import { addDays, parseDay } from '../../src/lib/days.ts'
import { LIMITS } from '../../src/normalize/base-plan.ts'
import { DOCUMENTED } from './documented-rows.ts'
import { Lake } from '../support/lake.ts'

const FIRST = parseDay('2026-01-14', 'the day')
const LATER = '2026-12-01T03:00:00Z'

/** The findings of single rows: different rows of one key are a finding of the day. */
const FINDINGS = `select cast(activity_date as varchar) as day, path, kind, expected, served_type,
  served_length, occurrences from {schema_drift} where path is not null and kind <> 'repeated'
  order by all`

/** Changes of a documented row of /users, so that days have few shapes and some rows without one. */
const CHANGES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replace(/}$/, ',"seat":{"plan":"team","add_ons":["review",{"trial":true}]}}'),
  (text) => text.replace(/}$/, ',"seat":null}'),
  (text) => text.replace(/}$/, ',"seat":"team","Seat":[1,2]}'),
  (text) => text.replace(/}$/, ',"USER_ID":1}'),
  (text) => text.replace(/}$/, ',"":{},"a key":{},"__proto__":{}}'),
  (text) => text.replace(/"hooks":[^,]*,/, ''),
  (text) => text.replace(/"user_id":"[^"]*",/, ''),
  (text) => text.replace(/"user_id":"[^"]*"/, '"user_id":null'),
  (text) => text.replace(/"user_id":"[^"]*"/, '"user_id":""'),
  (text) => text.replace(/"user_id":"[^"]*"/, '"user_id":"\\ud83d"'),
  (text) => text.replace(/"sessions":[^,]*/, '"sessions":1.2e1'),
  (text) => text.replace(/"sessions":[^,]*/, '"sessions":9223372036854775808'),
  (text) => text.replace(/"sessions":[^,]*/, '"sessions":"x"'),
  (text) => text.replace(/"autonomy_ratio":[^,]*/, '"autonomy_ratio":1e999'),
  (text) => text.replace(/"autonomy_ratio":[^,]*/, '"autonomy_ratio":"1.5"'),
  (text) => text.replace(/"billable_tokens":[^,]*/, '"billable_tokens":0.30000000000000004'),
  (text) => text.replace(/"billable_tokens":[^,]*/, '"billable_tokens":12.00000000000000001'),
  (text) => text.replace(/"languages":\[[^\]]*\]/, '"languages":["C",7,{}]'),
  (text) => text.replace(/"languages":\[[^\]]*\]/, '"languages":null'),
  (text) => text.replace(/"user_id":"[^"]*"/, '"\\u0075ser_id":null'),
  (text) => text.replace(/"user_id":"[^"]*"/, '"user_id":"\\u00e9\\/"'),
  (text) => text.replace(/"billable_tokens":[^,]*/, '"billable_tokens":12345678901.2345675'),
  (text) => text.replaceAll(':', ' : '),
  (text) => text.slice(0, -3),
]

/** The findings of these rows together, from those of each row: the first one, with the total count. */
function together(found: readonly (readonly Row[])[], rows: readonly number[]): Row[] {
  const all = new Map<string, Row>()
  for (const of of rows) {
    for (const row of found[of] ?? []) {
      const key = JSON.stringify([row['path'], row['kind']])
      const first = all.get(key)
      const occurrences = Number(first?.['occurrences'] ?? 0) + Number(row['occurrences'])
      const isCounted = row['occurrences'] !== null
      all.set(key, { ...(first ?? row), occurrences: isCounted ? String(occurrences) : null })
    }
  }
  return [...all.values()]
}

function inOrder(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

function sortKey({ day, path, kind }: Row): string {
  return [day, path, kind].map(String).join('\u0001')
}

describe('drift findings of a day', () => {
  it('equal those of its rows one by one, whatever shapes they have', async () => {
    const text = JSON.stringify(DOCUMENTED.users)
    const texts = CHANGES.flatMap((change) => CHANGES.map((other) => other(change(text))))
    const alone = await Lake.open()
    for (const [at, item] of texts.entries()) {
      await alone.land('users', addDays(FIRST, at), LATER, [item])
    }
    await alone.normalize()
    const each = await alone.rows(FINDINGS)
    const found = texts.map((_, at) => {
      const day = addDays(FIRST, at)
      return each.filter((row) => row['day'] === day)
    })
    // most rows have one of a few shapes
    const days = fc
      .tuple(fc.constantFrom(1, 2, 6, 7), fc.array(fc.nat(CHANGES.length - 1), { maxLength: 2 }))
      .chain(([shape, others]) => {
        const usual = [shape, ...others]
        const rows = fc.array(fc.constantFrom(...usual), { minLength: 1, maxLength: 12 })
        const odd = fc.array(fc.nat(texts.length - 1), { maxLength: 4 })
        const day = fc.tuple(rows, odd).map(([some, rest]) => [...some, ...rest])
        return fc.array(day, { minLength: 6, maxLength: 6 })
      })
    await fc.assert(
      fc.asyncProperty(days, async (drawn) => {
        const lake = await Lake.open()
        for (const [at, rows] of drawn.entries()) {
          const items = rows.map((row) => texts[row] ?? '')
          await lake.land('users', addDays(FIRST, at), LATER, items)
        }
        await lake.normalize()
        const expected = drawn.flatMap((rows, at) =>
          together(found, rows).map((row) => ({ ...row, day: addDays(FIRST, at) })),
        )
        expect(inOrder(await lake.rows(FINDINGS))).toEqual(inOrder(expected))
      }),
      { numRuns: 8, endOnFailure: true },
    )
  })

  it('count each row with a field of any depth or size', async () => {
    const lake = await Lake.open()
    const deep = `${'['.repeat(11_000)}${']'.repeat(11_000)}`
    const values = [deep, JSON.stringify('x'.repeat(100_000)), '{"a":1}']
    for (const [at, value] of values.entries()) {
      const item = JSON.stringify(DOCUMENTED.users).replace(/}$/, `,"seat":${value}}`)
      await lake.land('users', addDays(FIRST, at), LATER, [item, item, item])
    }
    await lake.normalize()
    const select =
      'select served_type, served_length, occurrences from {schema_drift} order by activity_date'
    expect(await lake.rows(select)).toEqual([
      { served_type: 'array', served_length: '1', occurrences: '3' },
      { served_type: 'string', served_length: '100000', occurrences: '3' },
      { served_type: 'object', served_length: null, occurrences: '3' },
    ])
  })

  it('are limited when rows have thousands of unknown fields', async () => {
    const lake = await Lake.open()
    const extra = Array.from({ length: 3000 }, (_, n) => [`field_${String(n)}`, n] as const)
    const item = { ...DOCUMENTED.users, ...Object.fromEntries(extra) }
    await lake.land('users', FIRST, LATER, [item, item])
    await lake.normalize()
    const select = 'select count(*) as paths, max(occurrences) as occurrences from {schema_drift}'
    expect(await lake.rows(select)).toEqual([{ paths: '100', occurrences: '4000' }])
  })

  it('include fields inside very large items, on their day only', async () => {
    const lake = await Lake.open()
    const user = (n: number, extra: object) => ({
      user_id: `user_${String(n)}`,
      by_model: [],
      ...extra,
    })
    const users = Array.from({ length: 100_000 }, (_, n) => user(n, { user_email: 'a'.repeat(90) }))
    const preview = { ...DOCUMENTED.tokens, by_user: users, preview: {} }
    await lake.land('tokens', FIRST, LATER, [preview])
    const odd = { ...preview, by_user: [...users, user(100_000, { usd: 1 })] }
    await lake.land('tokens', addDays(FIRST, 1), LATER, [odd])
    await lake.normalize()
    const select = `select cast(activity_date as varchar) as day, path, kind, occurrences
      from {schema_drift} order by all`
    expect(await lake.rows(select)).toEqual([
      { day: '2026-01-14', path: '$.preview', kind: 'unknown', occurrences: '1' },
      { day: '2026-01-15', path: '$.by_user[].usd', kind: 'unknown', occurrences: '1' },
      { day: '2026-01-15', path: '$.preview', kind: 'unknown', occurrences: '1' },
    ])
  })

  it('include small and large items of days that are read one after the other', async () => {
    const { rawBytes } = LIMITS
    LIMITS.rawBytes = 1 // a day at a time
    onTestFinished(() => void (LIMITS.rawBytes = rawBytes))
    const lake = await Lake.open()
    const megabytes = [2, 10, 2]
    for (const [at, size] of megabytes.entries()) {
      const rows = Array.from({ length: size }, (_, n) => ({
        ...DOCUMENTED.users,
        user_id: `user_${String(n)}`,
        hooks: 'x'.repeat(2 ** 20), // without a shape, so that each item is examined
      }))
      await lake.land('users', addDays(FIRST, at), LATER, rows)
    }
    await lake.normalize()
    const select = `select cast(activity_date as varchar) as day, path, kind from {schema_drift}
      order by all`
    expect(await lake.rows(select)).toEqual(
      megabytes.map((_, at) => ({ day: addDays(FIRST, at), path: '$.hooks', kind: 'unreadable' })),
    )
  })
})
