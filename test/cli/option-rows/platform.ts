import { expect } from 'vitest'
import { another, fileWith, json, ok, rowsOf, type Kit, type Row, type Rows } from './rows.ts'
import { COMPUTER, MESSAGE, SESSION } from './common.ts'

const UPDATE = ['sessions', 'update', SESSION, '--yes', '--json']

export const PLATFORM: Rows = {
  'controls list --limit': async (kit) => {
    expect(await json(kit, ['controls', 'list', '--limit', '2', '--json'])).toHaveLength(2)
  },
  'readiness list --repo': async (kit) => {
    const urls = async (...args: string[]): Promise<string[]> => {
      const reports = (await json(kit, ['readiness', 'list', '--json', ...args])) as {
        repoUrl: string
      }[]
      return [...new Set(reports.map(({ repoUrl }) => repoUrl))]
    }
    expect(await urls('--repo', 'repo_api')).toEqual(['https://code.acme.example/acme/api'])
    expect((await urls()).length).toBeGreaterThan(1)
  },
  'computers metrics --start': async (kit) => {
    const metrics = ['computers', 'metrics', COMPUTER, '--json']
    const all = (await json(kit, metrics)) as unknown[]
    const some = (await json(kit, [...metrics, '--start', '2026-02-03T03:00:00Z'])) as unknown[]
    expect(some.length).toBeGreaterThan(0)
    expect(some.length).toBeLessThan(all.length)
  },
  'computers wait --timeout': waitRow(
    ['computers', 'install-deps', COMPUTER, '--yes'],
    ['computers', 'wait', COMPUTER],
  ),
  'computers wait --interval': intervalRow(
    ['computers', 'install-deps', COMPUTER, '--yes'],
    ['computers', 'wait', COMPUTER],
  ),
  'sessions watch --timeout': waitRow([], ['sessions', 'watch', 'running']),
  'sessions watch --interval': intervalRow([], ['sessions', 'watch', 'running']),
  'sessions show --computer': computerRow(['sessions', 'show', SESSION]),
  'sessions watch --computer': computerRow(['sessions', 'watch', SESSION]),
  'sessions interrupt --computer': computerRow(['sessions', 'interrupt', SESSION, '--dry-run']),
  'messages show --computer': computerRow(['messages', 'show', SESSION, MESSAGE]),
  ...rowsOf('sessions update', {
    computer: computerRow(['sessions', 'update', SESSION, '--archive', '--dry-run']),
    model: updateRow(['--model', 'atlas-9'], { model: 'atlas-9' }),
    'spec-model': updateRow(['--spec-model', 'atlas-9'], { specModeModel: 'atlas-9' }),
    tag: updateRow(['--tag', 'one', '--tag', 'two'], {
      tags: expect.arrayContaining([
        expect.objectContaining({ name: 'one' }),
        expect.objectContaining({ name: 'two' }),
        expect.objectContaining({ name: 'release' }),
      ]) as unknown,
    }),
    untag: updateRow(['--untag', 'release', '--untag', 'café'], { tags: [] }),
    archive: updateRow(['--archive'], {
      archivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown,
    }),
    settings: updateRow(['--settings', '{"disabledToolIds":["A"]}'], { disabledToolIds: ['A'] }),
  }),
  'limits set --csv': async (kit) => {
    const { emulator, environment } = await another({ users: 40 })
    const file = await fileWith(kit, 'l.csv', 'email,limit\ngrace.hopper@acme.example,7000000\n')
    await ok(kit, ['limits', 'set', '--csv', file, '--yes'], { environment })
    const limits = await json(kit, ['limits', 'list', '--json'], { environment })
    expect(JSON.stringify(limits)).toContain('"email":"grace.hopper@acme.example","limit":7000000')
    expect(emulator.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1)
  },
  'limits set --force': forceRow(['limits', 'set', 'grace.hopper@acme.example', '20000000']),
  'limits set-global --force': forceRow(['limits', 'set-global', '5000000']),
  'limits remove --force': forceRow(['limits', 'remove', 'nobody@acme.example']),
}

/** An unchanged value is sent with --force, and not without it. */
function forceRow(args: readonly string[]): Row {
  return async (kit) => {
    const { emulator, environment } = await another({ users: 40 })
    const sent = (): number => emulator.requests.filter(({ method }) => method !== 'GET').length
    await ok(kit, [...args, '--yes'], { environment })
    expect(sent()).toBe(0)
    await kit.go([...args, '--yes', '--force'], { environment })
    expect(sent()).toBe(1)
  }
}

/** The request names the computer of the session. */
function computerRow(args: readonly string[]): Row {
  return async (kit) => {
    const asked = kit.asked()
    await kit.go([...args, '--computer', 'computer-7'])
    expect(asked().some((each) => each.includes('computerId=computer-7'))).toBe(true)
  }
}

function updateRow(flags: readonly string[], settings: object): Row {
  return async (kit) => {
    const { environment } = await another()
    const updated = await json(kit, [...UPDATE, ...flags], { environment })
    expect(updated).toMatchObject({ session: { sessionSettings: settings } })
  }
}

/** On a platform whose clock stands still, so that the wait ends by --timeout alone. */
async function standing(kit: Kit, before: readonly string[], args: readonly string[]) {
  const { emulator, environment } = await another()
  if (before.length > 0) await ok(kit, before, { environment })
  const [running = ''] = emulator.sessionIds()
  const wait = args.map((each) => (each === 'running' ? running : each))
  const poll = async (...flags: string[]): Promise<[code: number | null, requests: number]> => {
    const count = emulator.requests.length
    const { code } = await kit.go([...wait, ...flags], { environment })
    return [code, emulator.requests.length - count]
  }
  return poll
}

function waitRow(before: readonly string[], args: readonly string[]): Row {
  return async (kit) => {
    const poll = await standing(kit, before, args)
    const [code] = await poll('--timeout', '0.05s', '--interval', '0.01s')
    expect(code).toBe(4)
  }
}

function intervalRow(before: readonly string[], args: readonly string[]): Row {
  return async (kit) => {
    const poll = await standing(kit, before, args)
    const [, often] = await poll('--timeout', '1s', '--interval', '0.01s')
    const [, rarely] = await poll('--timeout', '1s', '--interval', '0.9s')
    expect(rarely).toBeLessThan(often)
  }
}
