import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import fc from 'fast-check'
import type { Cell, Database } from '../../src/lib/duckdb.ts'
import { flatten, openBase, type RawItem } from './flatten.ts'

let database: Database

beforeAll(async () => {
  database = await openBase()
})

afterAll(() => {
  database.close()
})

/** The leaves of settings by their paths, as JSON texts. */
async function leavesOf(settings: unknown): Promise<Record<string, Cell>> {
  const text = typeof settings === 'string' ? settings : JSON.stringify(settings)
  const items = [{ item: `{"revision": 7, "settings": ${text}}` }]
  const columns = ['settings_path', 'value_json']
  const rows = await flatten(database, 'controls_settings', items, columns)
  return Object.fromEntries(
    rows.map(([path, value]) => [typeof path === 'string' ? path : '', value ?? null]),
  )
}

describe('settings', () => {
  it('become one row per leaf, including empty ones', async () => {
    const settings = {
      maxAutonomyLevel: 'high',
      sandbox: { enabled: true, network: { httpProxyPort: 8080 } },
      sessionRetentionDays: null,
      enabledPlugins: {},
      customModels: [],
    }
    expect(await leavesOf(settings)).toEqual({
      maxAutonomyLevel: '"high"',
      'sandbox.enabled': 'true',
      'sandbox.network.httpProxyPort': '8080',
      sessionRetentionDays: 'null',
      enabledPlugins: '{}',
      customModels: '[]',
    })
  })

  it('keep numbers exact, and spell equal integers alike', async () => {
    const settings =
      '{"a": 9007199254740993, "b": 1e3, "c": 1000.0, "d": -3.0, "e": 0.5, "f": 1e300, "g": "30.0"}'
    expect(await leavesOf(settings)).toEqual({
      a: '9007199254740993',
      b: '1000',
      c: '1000',
      d: '-3',
      e: '0.5',
      f: '1e300',
      g: '"30.0"',
    })
  })

  it('stay numbers beside one with many digits', async () => {
    const settings =
      '{"a": 0.5, "b": 30.0, "c": "30.0", "d": 0.30000000000000004, "e": [0.5], "commandAllowlist": [2.5]}'
    expect(await leavesOf(settings)).toEqual({
      a: '0.5',
      b: '30',
      c: '"30.0"',
      d: '0.30000000000000004',
      e: '[0.5]',
      commandAllowlist: '[2.5]',
    })
  })

  it('have a different key for each path', async () => {
    expect(
      await leavesOf({
        'a.b': 1,
        a: { b: 2, '': 3, 'x"y': 4, '0': 5 },
        'a]': [{ id: 'b', v: 6 }],
      }),
    ).toEqual({
      '["a.b"]': '1',
      'a.b': '2',
      'a[""]': '3',
      'a["x\\"y"]': '4',
      'a["0"]': '5',
      '["a]"][b].id': '"b"',
      '["a]"][b].v': '6',
    })
  })

  it.each([
    'commandAllowlist',
    'commandDenylist',
    'managedComputersAllowedEmails',
    'byomComputersAllowedEmails',
    'modelPolicy.allowedModelIds',
    'modelPolicy.blockedModelIds',
    'modelPolicy.allowedBaseUrls',
    'mcpPolicy.allowlist',
    'missionPolicy.allowedUserIds',
    'userModelPolicies.u1.allowedModelIds',
    'userModelPolicies.u1.blockedModelIds',
    'networkPolicy.allowedIps',
    'sandbox.filesystem.allowWrite',
    'sandbox.filesystem.allowRead',
    'sandbox.filesystem.denyWrite',
    'sandbox.filesystem.denyRead',
    'sandbox.network.allowedDomains',
    'sandbox.network.allowUnixSockets',
  ])('are sorted and deduplicated where they are a set: %s', async (path) => {
    const nested = path
      .split('.')
      .reduceRight<unknown>((value, key) => ({ [key]: value }), ['b', 'a', 'b'])
    expect(await leavesOf(nested)).toEqual({ [path]: '["a","b"]' })
  })

  it('may be a set of mixed scalars', async () => {
    expect(await leavesOf({ commandAllowlist: [2, 'b', null, true, null, 2] })).toEqual({
      commandAllowlist: '["b",2,null,true]',
    })
  })

  it('of a user policy are a set even if the user’s id is an e-mail address', async () => {
    const settings = { userModelPolicies: { 'a@x.example': { allowedModelIds: ['m2', 'm1'] } } }
    expect(await leavesOf(settings)).toEqual({
      'userModelPolicies["a@x.example"].allowedModelIds': '["m1","m2"]',
    })
  })

  it('keep the order of a list that is not documented to be a set', async () => {
    const settings = {
      newThing: ['b', 'a', 'b'],
      mixed: [{ id: 1 }, 2],
      nested: [[2, 1]],
      customModels: [{ model: 'm', extraArgs: { stop: ['z', 'a'] } }],
    }
    expect(await leavesOf(settings)).toEqual({
      newThing: '["b","a","b"]',
      mixed: '[{"id":1},2]',
      nested: '[[2,1]]',
      'customModels[m].model': '"m"',
      'customModels[m].extraArgs.stop': '["z","a"]',
    })
  })

  it('name models and marketplaces by their ids, whatever their position', async () => {
    const models = [
      { id: 'one', model: 'm', baseUrl: 'https://x.example' },
      { model: 'm' },
      { model: 'm' },
    ]
    const sources = [
      { source: 'code-host', repo: 'org/repo' },
      { source: 'git-subdir', url: 'https://x.example', path: 'sub' },
      { kind: 'unheard of' },
    ]
    expect(await leavesOf({ customModels: models, strictKnownMarketplaces: sources })).toEqual({
      'customModels[one].id': '"one"',
      'customModels[one].model': '"m"',
      'customModels[one].baseUrl': '"https://x.example"',
      'customModels[m].model': '"m"',
      'customModels[m#2].model': '"m"',
      'strictKnownMarketplaces[code-host:org/repo].source': '"code-host"',
      'strictKnownMarketplaces[code-host:org/repo].repo': '"org/repo"',
      'strictKnownMarketplaces[git-subdir:https://x.example:sub].source': '"git-subdir"',
      'strictKnownMarketplaces[git-subdir:https://x.example:sub].url': '"https://x.example"',
      'strictKnownMarketplaces[git-subdir:https://x.example:sub].path': '"sub"',
      'strictKnownMarketplaces[2].kind': '"unheard of"',
    })
  })

  it('do not depend on the order of models and keys', async () => {
    const key = fc.constantFrom('a', 'b', 'c')
    const models = fc.uniqueArray(fc.record({ id: key, model: key }), {
      selector: ({ id }) => id,
    })
    await fc.assert(
      fc.asyncProperty(models, fc.array(key), async (customModels, commandAllowlist) => {
        const reversed = customModels.toReversed().map(({ id, model }) => ({ model, id }))
        const other = {
          commandAllowlist: commandAllowlist.toReversed(),
          customModels: reversed,
        }
        expect(await leavesOf(other)).toEqual(await leavesOf({ customModels, commandAllowlist }))
      }),
      { numRuns: 15 },
    )
  })

  it('mark redacted values', async () => {
    const settings = {
      a: '[redacted:0a1b2c3d]',
      b: 'https://x?k=[redacted:0a1b2c3d]',
      c: 'redacted',
    }
    const items = [{ item: { revision: 1, settings } }]
    expect(
      await flatten(database, 'controls_settings', items, ['settings_path', 'is_redacted']),
    ).toEqual([
      ['a', true],
      ['b', true],
      ['c', false],
    ])
  })

  it('keep the last value of a repeated key, and half a surrogate pair as its escape', async () => {
    expect(await leavesOf('{"a": 1, "a": 2, "b": "\\ud83d", "c\\ud83d": true}')).toEqual({
      a: '2',
      b: '"\ufffd\\\\ud83d"',
      '["c\ufffd\\\\ud83d"]': 'true',
    })
  })
})

describe('a revision', () => {
  const revision = (fields: object, place: Partial<RawItem> = {}): RawItem => ({
    item: { revision: 7, ...fields },
    ...place,
  })

  it('has its actor and its time', async () => {
    const items = [
      revision({
        updatedAt: '2026-01-14T01:02:03.456+02:00',
        user: { id: 'u1', email: 'A@x.example', name: 'Ann' },
        settings: { a: 1 },
      }),
    ]
    const columns = ['updated_at', 'actor_id', 'actor_email', 'actor_name', 'settings']
    expect(await flatten(database, 'controls_revisions', items, columns)).toEqual([
      ['2026-01-13 23:02:03.456+00', 'u1', 'A@x.example', 'Ann', '{"a":1}'],
    ])
  })

  it.each([
    ['no settings', {}],
    ['a text', { settings: 'x' }],
    ['null', { settings: null }],
  ])('with %s as settings has NULL settings and no leaves', async (_, fields) => {
    const items = [revision(fields)]
    const columns = ['revision', 'settings']
    expect(await flatten(database, 'controls_revisions', items, columns)).toEqual([['7', null]])
    expect(await flatten(database, 'controls_settings', items, columns.slice(0, 1))).toEqual([])
  })

  it('that is repeated in a file has the settings and leaves of the later one', async () => {
    const items = [
      revision({ settings: { a: 2, c: 1 } }, { page: 1 }),
      revision({ settings: { a: 1, b: 1 } }, { page: 0 }),
    ]
    expect(await flatten(database, 'controls_revisions', items, ['settings'])).toEqual([
      ['{"a":2,"c":1}'],
    ])
    const columns = ['settings_path', 'value_json']
    expect(await flatten(database, 'controls_settings', items, columns)).toEqual([
      ['a', '2'],
      ['c', '1'],
    ])
  })
})

describe('settings of policies', () => {
  const columns = ['revision', 'setting', 'value', 'value_key']

  it('become one row per value, whatever else the settings have', async () => {
    const settings = {
      maxAutonomyLevel: 'high',
      mcpAutonomyOverrides: { 'a.b': { defaultLevel: 'low', tools: { 'x.y': 'medium' } } },
      mcpPolicy: { enabled: true, allowlist: [' GitHub', 'github', '', null, ' GitHub'] },
      modelPolicy: {
        allowedModelIds: ['m1'],
        blockedModelIds: [],
        allowCustomModels: false,
        allowAllServiceModels: null,
      },
      userModelPolicies: { 'u"1': { allowedModelIds: ['m2'] }, u2: 7 },
      customModels: [{ model: 'own', id: 'custom:own' }, 'odd'],
      commandDenylist: ['rm -rf /', 'rm -rf /', null],
      managedComputersAllowedEmails: ['A@x.example '],
      byomComputersAllowedEmails: {},
      sessionRetentionDays: 30,
    }
    const items = [{ item: JSON.stringify({ revision: 7, settings }) }]
    const rows = await flatten(database, 'controls_policies', items, columns)
    expect([...rows].sort()).toEqual([
      ['7', 'commandDenylist', 'rm -rf /', 'rm -rf /'],
      ['7', 'customModels', 'custom:own', 'custom:own'],
      ['7', 'customModels', 'own', 'own'],
      ['7', 'managedComputersAllowedEmails', 'A@x.example ', 'a@x.example'],
      ['7', 'maxAutonomyLevel', 'high', 'high'],
      ['7', 'mcpAutonomyOverrides', 'low', 'low'],
      ['7', 'mcpAutonomyOverrides', 'medium', 'medium'],
      ['7', 'mcpPolicy.allowlist', ' GitHub', 'github'],
      ['7', 'mcpPolicy.allowlist', 'github', 'github'],
      ['7', 'mcpPolicy.enabled', 'true', 'true'],
      ['7', 'modelPolicy.allowCustomModels', 'false', 'false'],
      ['7', 'modelPolicy.allowedModelIds', 'm1', 'm1'],
      ['7', 'sessionRetentionDays', '30', '30'],
      ['7', 'userModelPolicies.allowedModelIds', 'm2', 'm2'],
    ])
  })

  it.each(['null', '[]', '{}', '{"mcpPolicy":[1],"modelPolicy":"x","customModels":{"a":1}}'])(
    'give no rows from %s',
    async (settings) => {
      const items = [{ item: `{"revision":1,"settings":${settings}}` }]
      expect(await flatten(database, 'controls_policies', items, columns)).toEqual([])
    },
  )
})
