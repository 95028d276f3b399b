import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Emulator } from '../../../src/emulator/emulator.ts'
import type { Outcome } from '../../support/command.ts'
import { configured, NOTHING, type Where } from '../published-stage.ts'
import {
  another,
  eventsOf,
  fileWith,
  json,
  ok,
  on,
  once,
  rowsOf,
  type Kit,
  type Row,
  type Rows,
} from './rows.ts'

/** Session, message and computer of the stand-in platform, always the same. */
export const SESSION = '15f3033e-843f-4cb8-a4c3-5b4134c21f2a'
export const MESSAGE = 'a51ef6cc-21e1-4fc7-aee4-e08087433ff7'
export const COMPUTER = 'build-farm'

type Bases = Readonly<Record<string, readonly string[]>>

const DAY = ['--only', 'tokens', '--from', '2026-02-01']

/** The models that BUILT_ALONE leaves, one of them incremental. */
export const ALONE = ['fct_org_day', 'fct_user_language_day']

export const BUILT_ALONE = [
  ...['--select', [...ALONE, 'fct_tool_day'].join(' ')],
  ...['--exclude', 'fct_tool_day'],
]

/** Commands that build or compare everything, with arguments with which they exit with code 0. */
export const SLOW = {
  run: slow('run', ...DAY),
  build: slow('build', '--full-refresh', ...BUILT_ALONE),
  rebuild: slow('rebuild'),
  verify: slow('verify', '--days', '2'),
}

/** The other commands on the data folder. */
const LOCAL: Bases = {
  sync: ['sync', ...DAY],
  plan: ['plan', '--only', 'users'],
  doctor: ['doctor'],
  status: ['status'],
  query: ['query', 'select count(*) as days from fct_org_day'],
  tables: ['tables', 'fct_model_day'],
  export: ['export', 'csv'],
  rollback: ['rollback', '--list'],
  compact: ['compact'],
  report: ['report'],
  docs: ['docs'],
}

/** Commands that read from the platform. */
const READING: Bases = {
  'controls list': ['controls', 'list'],
  'controls show': ['controls', 'show', 'latest'],
  'controls diff': ['controls', 'diff', 'latest'],
  'limits list': ['limits', 'list'],
  'readiness list': ['readiness', 'list'],
  'readiness show': ['readiness', 'show', 'latest'],
  'computers list': ['computers', 'list'],
  'computers show': ['computers', 'show', COMPUTER],
  'computers metrics': ['computers', 'metrics', COMPUTER],
  'computers wait': ['computers', 'wait', COMPUTER],
  'sessions show': ['sessions', 'show', SESSION],
  'sessions watch': ['sessions', 'watch', SESSION],
  'messages show': ['messages', 'show', SESSION, MESSAGE],
}

/** Commands that change something on the platform. */
const CHANGING: Bases = {
  'limits set': ['limits', 'set', 'ada@acme.example', '7000000'],
  'limits set-global': ['limits', 'set-global', '9000000'],
  'limits remove': ['limits', 'remove', 'grace.hopper@acme.example', '--force'],
  'computers install-deps': ['computers', 'install-deps', COMPUTER],
  'computers refresh': ['computers', 'refresh', COMPUTER],
  'computers restart': ['computers', 'restart', COMPUTER],
  'computers delete': ['computers', 'delete', COMPUTER],
  'sessions update': ['sessions', 'update', SESSION, '--model', 'atlas-9'],
  'sessions interrupt': ['sessions', 'interrupt', SESSION],
}

/** Commands that ask for, or show, organisations by name. */
const OF_ORGANISATIONS = ['run', 'sync', 'plan', 'doctor', 'status', 'verify']

const LOGGING = ['sync', 'export', 'compact']

export const COMMON: Rows = {
  ...slowRows(SLOW.run),
  ...slowRows(SLOW.build),
  ...slowRows(SLOW.rebuild),
  ...slowRows(SLOW.verify),
  ...each(LOCAL, (name, args) => ({
    data: dataRow(args),
    config: localConfig(args),
    json: jsonRow(args, LOGGING.includes(name)),
    ...(OF_ORGANISATIONS.includes(name) ? { org: orgRow(args) } : {}),
    ...(LOGGING.includes(name) ? { log: logRow(args) } : {}),
  })),
  ...each(READING, (_, args) => platformRows(args)),
  ...each(CHANGING, (_, args) => ({
    ...platformRows([...args, '--dry-run']),
    yes: yesRow(args),
    'dry-run': dryRunRow(args),
  })),
  'rollback --log': async (kit) => {
    // Without an earlier warehouse, the log is the only output about the run.
    const where = on(await kit.copy())
    const said = await kit.go(['rollback', '--log', 'json'], where)
    const [first] = said.err.split('\n')
    expect(JSON.parse(first ?? '')).toMatchObject({ type: 'run.started', command: 'rollback' })
    const silent = await kit.go(['rollback', '--log', 'none'], where)
    expect(silent.err).not.toContain('run.started')
  },
}

function each(bases: Bases, rows: (name: string, args: readonly string[]) => Rows): Rows {
  return Object.fromEntries(
    Object.entries(bases).flatMap(([name, args]) =>
      Object.entries(rows(name, args)).map(([option, row]) => [`${name} --${option}`, row]),
    ),
  )
}

/** A command with all its common options at once, and what it printed. */
interface SlowRun {
  readonly data: string
  /** The number of run records before it. */
  readonly runsBefore: number
  readonly config: string
  readonly said: Outcome
  /** The organisation that `--org` leaves out. */
  readonly other: Emulator
}

const silent = (kit: Kit) => ({ cwd: kit.here, environment: { ...NOTHING, ...keyOf(kit) } })

/**
 * A command that takes long runs once: all that it needs comes from its options, and each row
 * looks at the effect of one.
 */
function slow(name: string, ...flags: readonly string[]) {
  const args = [name, ...flags]
  const all = once(async (kit): Promise<SlowRun> => {
    const [data, { emulator: other }] = [await kit.copy(), await another({ orgId: 'org_two' })]
    const hasOrganisations = OF_ORGANISATIONS.includes(name)
    const two = hasOrganisations ? organisationTwo(other) : ''
    const config = await fileWith(kit, 'other.yaml', `data: none\n${organisationOf(kit)}${two}`)
    const org = hasOrganisations ? ['--org', 'default'] : []
    const options = ['--data', data, '--config', config, '--json', '--log', 'json', ...org]
    const runsBefore = (await readdir(join(data, 'runs'))).length
    const said = await ok(kit, [...args, ...options], silent(kit))
    return { data, runsBefore, config, said, other }
  })
  return { name, args, all }
}

function slowRows({ name, args, all }: ReturnType<typeof slow>): Rows {
  return rowsOf(name, {
    data: async (kit) => {
      const { data, runsBefore } = await all(kit)
      expect(await readdir(join(data, 'runs'))).toHaveLength(runsBefore + 1)
    },
    config: async (kit) => {
      await all(kit)
      const broken = await fileWith(kit, 'broken.yaml', 'datta: here\n')
      const { code, err } = await kit.go([...args, '--config', broken], silent(kit))
      expect([code, err]).toEqual([2, expect.stringContaining('broken.yaml')])
    },
    json: async (kit) => {
      expect(JSON.parse((await all(kit)).said.out)).toBeTypeOf('object')
    },
    log: async (kit) => {
      const types = eventsOf((await all(kit)).said).map(({ type }) => type)
      expect([types[0], types.at(-1)]).toEqual(['run.started', 'run.finished'])
    },
    ...(OF_ORGANISATIONS.includes(name)
      ? {
          org: async (kit) => {
            const { config, data, other } = await all(kit)
            expect(other.requests).toEqual([])
            await expectUnknown(kit, [...args, '--data', data, '--config', config], silent(kit))
          },
        }
      : {}),
  })
}

/** The command uses the folder of the option, not the empty one of the environment. */
function dataRow(args: readonly string[]): Row {
  return async (kit) => {
    const empty = on(join(kit.here, 'empty'))
    const asked = kit.asked()
    const named = await ok(kit, [...args, '--data', await kit.copy()], empty)
    const askedThen = asked().length
    const without = await kit.go(args, empty)
    const askedLater = asked().length - askedThen
    expect([without.code, asText(without.out), askedLater]).not.toEqual([
      named.code,
      asText(named.out),
      askedThen,
    ])
  }
}

/** The command takes the data folder and the organisation from the file alone. */
function localConfig(args: readonly string[]): Row {
  return async (kit) => {
    const file = await fileWith(
      kit,
      'other.yaml',
      `data: ${await kit.copy()}\n${organisationOf(kit)}`,
    )
    const where = { cwd: kit.here, environment: { ...NOTHING, ...keyOf(kit) } }
    const named = await ok(kit, [...args, '--config', file], where)
    const without = await kit.go(args, where)
    expect([without.code, asText(without.out)]).not.toEqual([named.code, asText(named.out)])
  }
}

/** The command asks one of two organisations without the key of the other; an unknown name gets a suggestion. */
function orgRow(args: readonly string[]): Row {
  return async (kit) => {
    const { emulator } = await another({ orgId: 'org_two', seed: 2 })
    const text = `data: ${await kit.copy()}\n${organisationOf(kit)}${organisationTwo(emulator)}`
    const config = ['--config', await fileWith(kit, 'two.yaml', text)]
    const where = { cwd: kit.here, environment: { ...NOTHING, ...keyOf(kit) } }
    await ok(kit, [...args, ...config, '--org', 'default'], where)
    expect(emulator.requests).toEqual([])
    await expectUnknown(kit, [...args, ...config], where)
  }
}

async function expectUnknown(kit: Kit, args: readonly string[], where: Where): Promise<void> {
  const { code, out, err } = await kit.go([...args, '--org', 'two,defualt'], where)
  expect(code).toBe(2)
  expect(out + err).toContain("there is no organisation 'defualt'")
  expect(out + err).toContain("Did you mean 'default'?")
}

/** @param isWork The row of `--log` tests that the output differs without `--json`. */
function jsonRow(args: readonly string[], isWork = false): Row {
  return async (kit) => {
    expect(await json(kit, [...args, '--json'])).toBeTypeOf('object')
    if (isWork) return
    const { out } = await ok(kit, args)
    expect(() => JSON.parse(out) as unknown).toThrow()
  }
}

function logRow(args: readonly string[]): Row {
  return async (kit) => {
    const said = await ok(kit, [...args, '--log', 'json'])
    const types = eventsOf(said).map(({ type }) => type)
    expect(() => JSON.parse(said.out) as unknown).toThrow()
    expect([types[0], types.at(-1)]).toEqual(['run.started', 'run.finished'])
    const text = await ok(kit, [...args, '--log', 'text'])
    expect(text.err).toMatch(/^\w+ started, run /m)
    expect((await ok(kit, [...args, '--log', 'none'])).err).toBe('')
  }
}

function platformRows(args: readonly string[]): Rows {
  return {
    data: async (kit) => {
      const file = await fileWith(kit, 'file', '')
      const said = await kit.go([...args, '--data', file])
      expect(said.code).toBe(2)
      expect(said.err).toContain(`the data folder ${file} is a file`)
      await ok(kit, [...args, '--data', join(kit.here, 'none')], on(file))
    },
    config: async (kit) => {
      const file = await fileWith(kit, 'other.yaml', organisationOf(kit))
      const where = { cwd: kit.here, environment: { ...NOTHING, ...keyOf(kit) } }
      await ok(kit, [...args, '--config', file], where)
      const without = await kit.go(args, where)
      expect([without.code, without.err]).toEqual([2, expect.stringContaining('is not set')])
    },
    json: jsonRow(args),
    'base-url': baseUrlRow(args),
    organisation: async (kit) => {
      const { emulator } = await another({ orgId: 'org_two' })
      await configured(
        kit.here,
        `${organisationOf(kit)}  - { name: two, base_url: '${emulator.url}', app_url: '${emulator.appUrl}', key_env: B_KEY }\n`,
      )
      const keys = { A_KEY: kit.emulator.keys.manager, B_KEY: emulator.keys.manager }
      const where = { cwd: kit.here, environment: { ...NOTHING, ...keys } }
      const asked = kit.asked()
      await ok(kit, [...args, '--organisation', 'two'], where)
      expect(asked()).toEqual([])
      expect(emulator.requests.length).toBeGreaterThan(0)
      expect((await kit.go(args, where)).code).toBe(2)
    },
  }
}

/** The command asks the host of the option, not that of the environment, where nothing listens. */
function baseUrlRow(args: readonly string[]): Row {
  return async (kit) => {
    const environment = { AGENT_BASE_URL: 'http://127.0.0.1:1' }
    const asked = kit.asked()
    await ok(kit, [...args, '--base-url', kit.emulator.url], { environment })
    expect(asked().length).toBeGreaterThan(0)
  }
}

/** The command makes the change without a confirmation, for which there is no terminal. */
function yesRow(args: readonly string[]): Row {
  return async (kit) => {
    const { emulator, environment } = await another()
    expect((await kit.go(args, { environment })).code).toBe(2)
    expect(emulator.requests).toEqual([])
    // The limit of an unknown user is sent, and refused (3).
    expect([0, 3]).toContain((await kit.go([...args, '--yes'], { environment })).code)
    expect(emulator.requests.filter(({ method }) => method !== 'GET')).not.toEqual([])
  }
}

function dryRunRow(args: readonly string[]): Row {
  return async (kit) => {
    const { emulator, environment } = await another()
    const { out } = await ok(kit, [...args, '--dry-run'], { environment })
    expect(out).toMatch(/^would send: (PUT|POST|PATCH|DELETE) http/m)
    expect(emulator.requests.filter(({ method }) => method !== 'GET')).toEqual([])
  }
}

const keyOf = ({ emulator }: Kit) => ({ A_KEY: emulator.keys.manager })

/** A second organisation, without a key. */
function organisationTwo({ url }: Emulator): string {
  return `  - { name: two, base_url: '${url}', key_env: NO_KEY }\n`
}

function organisationOf({ emulator }: Kit): string {
  return `organisations:\n  - { name: default, base_url: '${emulator.url}', app_url: '${emulator.appUrl}', key_env: A_KEY }\n`
}

/** Without what differs between any two runs. */
function asText(out: string): string {
  return out.replaceAll(/\d{8}T\d{6}Z-\w+|\d+(\.\d+)?m?s\b|\S*agent-warehouse-\S*/g, '')
}
