import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changesBetween, pathsOf } from '../../src/cli/admin/settings-paths.ts'
import type { Database } from '../../src/lib/duckdb.ts'
import { flatten, openBase } from '../normalize/flatten.ts'

let database: Database

beforeAll(async () => {
  database = await openBase()
})

afterAll(() => {
  database.close()
})

/** As the warehouse names and writes them. */
async function inWarehouse(settings: object): Promise<unknown[][]> {
  const items = [{ item: { revision: 7, settings } }]
  const rows = await flatten(database, 'controls_settings', items, ['settings_path', 'value_json'])
  return rows.map((row) => [...row])
}

const key = fc.constantFrom('model', 'a-b', 'user@acme.example', 'x.y', '', '0', 'é', 'id', 'name')
const scalar = fc.oneof(fc.constantFrom('a', 'b"', '', 'é'), fc.integer(), fc.boolean())
const leaf = fc.oneof(scalar, fc.constant(null), fc.array(scalar, { maxLength: 3 }))
const { settings: anySettings } = fc.letrec((tie) => ({
  settings: fc.dictionary(
    fc.oneof(key, fc.constantFrom('commandAllowlist', 'customModels', 'modelPolicy')),
    fc.oneof(
      { depthSize: 'small' },
      leaf,
      tie('settings'),
      fc.array(tie('settings'), { maxLength: 3 }),
    ),
    { maxKeys: 4 },
  ),
}))

describe('the paths of settings', () => {
  it('are the paths of the warehouse', async () => {
    await fc.assert(
      fc.asyncProperty(anySettings, async (settings) => {
        const paths = [...pathsOf(settings)].sort(([a], [b]) => (a < b ? -1 : 1))
        const there = await inWarehouse(Object(settings) as object)
        expect(paths).toEqual(there.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))
      }),
      { numRuns: 60 },
    )
  })

  it('treat lists that are documented as unordered as sets, and other lists as values', () => {
    const before = { commandAllowlist: ['a', 'b', 'a'], other: ['a', 'b'] }
    const after = { commandAllowlist: ['b', 'a'], other: ['b', 'a'] }
    expect(changesBetween(before, after)).toEqual([
      { path: 'other', before: '["a","b"]', after: '["b","a"]' },
    ])
  })

  it('name objects in lists by id or model, so that their order does not matter', () => {
    const [one, two] = [{ id: 'one', index: 0 }, { model: 'two' }]
    expect(changesBetween({ customModels: [one, two] }, { customModels: [two, one] })).toEqual([])
    expect([...pathsOf({ customModels: [one, two, one, {}] }).keys()]).toEqual([
      'customModels[one].id',
      'customModels[one].index',
      'customModels[two].model',
      'customModels[one#2].id',
      'customModels[one#2].index',
      'customModels[3]',
    ])
  })

  it('give the added, removed and changed settings', () => {
    expect(changesBetween({ a: 1, b: 2, c: null }, { b: 3, c: null, d: {} })).toEqual([
      { path: 'a', before: '1', after: null },
      { path: 'b', before: '2', after: '3' },
      { path: 'd', before: null, after: '{}' },
    ])
  })
})
