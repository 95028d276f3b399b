import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { hookFolders } from '../../../src/hooks/record.ts'
import { testServer } from '../../support/helpers.ts'
import { namesIn, runHook } from '../../hooks/support.ts'
import { configured, type Where } from '../published-stage.ts'
import { fileWith, json, ok, on, rowsOf, type Kit, type Row, type Rows } from './rows.ts'

const CHANNELS = `hooks:
  channels:
    team: { type: webhook, url_env: TEAM_URL }
  rules:
    - { events: [Stop], channels: [team] }
`

/** In the row's folder, which is also the user's home. */
function inside(kit: Kit): Where {
  return { cwd: kit.here, environment: { HOME: kit.here, AGENT_WAREHOUSE_DATA: kit.here } }
}

async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

/** Install writes into the file; uninstall removes what install wrote; status reports it. */
function place(flags: (kit: Kit) => string[], file: (kit: Kit) => string) {
  const install: Row = async (kit) => {
    await ok(kit, ['hooks', 'install', ...flags(kit)], inside(kit))
    expect(await textOf(file(kit))).toContain('hooks run')
  }
  const uninstall: Row = async (kit) => {
    await install(kit)
    await ok(kit, ['hooks', 'uninstall', ...flags(kit)], inside(kit))
    expect(await textOf(file(kit))).not.toContain('hooks run')
  }
  const status: Row = async (kit) => {
    await install(kit)
    const { out } = await ok(kit, ['hooks', 'status', ...flags(kit)], inside(kit))
    expect(out).toContain(`settings   ${file(kit)}`)
    expect(out).toMatch(/^Stop +installed/m)
  }
  return { install, uninstall, status }
}

const PLACES = {
  user: place(
    () => ['--user'],
    ({ here }) => join(here, '.agent', 'settings.json'),
  ),
  project: place(
    () => ['--project'],
    ({ here }) => join(here, '.agent', 'settings.json'),
  ),
  'config-dir': place(
    () => ['--config-dir', 'agent-folder'],
    ({ here }) => join(here, 'agent-folder', 'settings.json'),
  ),
  settings: place(
    () => ['--settings', 'own.json'],
    ({ here }) => join(here, 'own.json'),
  ),
}

function placesOf(command: 'install' | 'uninstall' | 'status'): Rows {
  return rowsOf(
    `hooks ${command}`,
    Object.fromEntries(Object.entries(PLACES).map(([option, rows]) => [option, rows[command]])),
  )
}

/** A receiver of notifications whose status can be set, and the requests that it got. */
async function receiver() {
  let status = 200
  const { url, requests } = await testServer((_, response) => {
    response.writeHead(status).end()
  })
  return { url, requests, answer: (next: number) => (status = next) }
}

/** The option --json of a command, with arguments with which it exits with code 0. */
function basics(command: string, args: readonly string[]): Rows {
  const all = ['hooks', command, ...args]
  return rowsOf(`hooks ${command}`, {
    json: async (kit) => {
      const { url } = await receiver()
      await configured(kit.here, CHANNELS)
      const where = { ...inside(kit), environment: { ...inside(kit).environment, TEAM_URL: url } }
      expect(await json(kit, [...all, '--json'], where)).toBeTypeOf('object')
      const { out } = await ok(kit, all, where)
      expect(() => JSON.parse(out) as unknown).toThrow()
    },
  })
}

/** A file with an unknown setting is refused, so the file is read. */
function readsConfig(args: readonly string[]): Row {
  return async (kit) => {
    const file = await fileWith(kit, 'other.yaml', 'no_such_setting: 1\n')
    const { code, err } = await kit.go([...args, '--config', file], inside(kit))
    expect([code, err]).toEqual([2, expect.stringContaining(`${file}: there is no setting`)])
    await ok(kit, args, inside(kit))
  }
}

function usesData(args: readonly string[]): Row {
  return async (kit) => {
    const file = await fileWith(kit, 'file', '')
    const { code, err } = await kit.go([...args, '--data', file], inside(kit))
    expect([code, err]).toEqual([2, expect.stringContaining(`the data folder ${file} is a file`)])
    await ok(kit, [...args, '--data', join(kit.here, 'data')], { ...inside(kit), ...on(file) })
  }
}

const EVENT = JSON.stringify({ hook_event_name: 'Stop', session_id: 's', cwd: '/p' })

/** Polls, because the sender is a process of its own. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await delay(20)
}

export const HOOKS: Rows = {
  ...placesOf('install'),
  ...placesOf('uninstall'),
  ...placesOf('status'),
  ...basics('install', []),
  ...basics('uninstall', []),
  ...basics('status', []),
  ...basics('test', ['team']),
  ...basics('flush', []),
  'hooks install --config': async (kit) => {
    const file = await fileWith(kit, 'other.yaml', CHANNELS)
    const { out } = await ok(kit, ['hooks', 'install', '--config', file], inside(kit))
    expect(out).toContain(file)
  },
  'hooks install --data': async (kit) => {
    const data = join(kit.here, 'elsewhere')
    const { out } = await ok(kit, ['hooks', 'install', '--data', data], inside(kit))
    expect(out).toContain(data)
  },
  'hooks install --events': async (kit) => {
    await ok(kit, ['hooks', 'install', '--events', 'PostToolUse', '--settings', 's'], inside(kit))
    const settings = JSON.parse(await textOf(join(kit.here, 's'))) as { hooks: object }
    expect(Object.keys(settings.hooks)).toEqual(['PostToolUse'])
  },
  'hooks install --dry-run': async (kit) => {
    const args = ['hooks', 'install', '--settings', 's', '--dry-run']
    expect((await ok(kit, args, inside(kit))).out).toContain('not changed: --dry-run')
    expect(await namesIn(kit.here)).toEqual([])
  },
  'hooks uninstall --dry-run': async (kit) => {
    await ok(kit, ['hooks', 'install', '--settings', 's'], inside(kit))
    const args = ['hooks', 'uninstall', '--settings', 's', '--dry-run']
    expect((await ok(kit, args, inside(kit))).out).toContain('not changed: --dry-run')
    expect(await textOf(join(kit.here, 's'))).toContain('hooks run')
  },
  'hooks uninstall --config': readsConfig(['hooks', 'uninstall']),
  'hooks uninstall --data': usesData(['hooks', 'uninstall']),
  'hooks status --config': readsConfig(['hooks', 'status']),
  'hooks status --data': usesData(['hooks', 'status']),
  'hooks flush --config': readsConfig(['hooks', 'flush']),
  'hooks flush --data': usesData(['hooks', 'flush']),
  'hooks test --config': async (kit) => {
    const { url, requests } = await receiver()
    const file = await fileWith(kit, 'other.yaml', CHANNELS)
    const where = { ...inside(kit), environment: { TEAM_URL: url } }
    await ok(kit, ['hooks', 'test', 'team', '--config', file], where)
    expect(requests).toHaveLength(1)
    expect((await kit.go(['hooks', 'test', 'team'], where)).err).toContain("no channel 'team'")
  },
  'hooks test --data': async (kit) => {
    const { url } = await receiver()
    await configured(kit.here, CHANNELS)
    const file = await fileWith(kit, 'file', '')
    const where = { ...inside(kit), environment: { TEAM_URL: url } }
    const { code } = await kit.go(['hooks', 'test', 'team', '--data', file], where)
    expect(code).toBe(2)
    await ok(kit, ['hooks', 'test', 'team', '--data', kit.here], where)
  },
  'hooks flush --failed': async (kit) => {
    const { url, requests, answer } = await receiver()
    await configured(kit.here, CHANNELS)
    const { failed } = hookFolders(kit.here)
    answer(400)
    const config = join(kit.here, 'agent-warehouse.yaml')
    await runHook(EVENT, { data: kit.here, config, environment: { TEAM_URL: url } })
    await until(async () => (await namesIn(failed)).length > 0)
    answer(200)
    const where = { ...inside(kit), environment: { ...inside(kit).environment, TEAM_URL: url } }
    const count = requests.length
    await kit.go(['hooks', 'flush'], where)
    expect(requests).toHaveLength(count)
    await until(async () => {
      await kit.go(['hooks', 'flush', '--failed'], where)
      return requests.length > count
    })
    expect(await namesIn(failed)).toEqual([])
  },
  'hooks run --data': async (kit) => {
    const data = join(kit.here, 'data')
    expect((await runHook(EVENT, { data })).code).toBe(0)
    expect(await namesIn(hookFolders(data).spool)).toHaveLength(1)
  },
  'hooks run --config': async (kit) => {
    const { url, requests } = await receiver()
    const config = join(kit.here, 'other.yaml')
    await writeFile(config, CHANNELS, { mode: 0o600 })
    await runHook(EVENT, { data: kit.here, config, environment: { TEAM_URL: url } })
    await until(() => Promise.resolve(requests.length > 0))
    await until(async () => (await namesIn(hookFolders(kit.here).outbox)).length === 0)
  },
}
