import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lock } from '../../src/lib/lock.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { waiting } from '../support/lease.ts'
import { standIn } from '../support/stand-in.ts'

async function stage() {
  const emulator = await standIn({ users: 3, now: () => Date.now() })
  const data = await temporaryFolder()
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
  }
  return { emulator, data, environment }
}

describe('doctor', () => {
  it('prints a line for each check, also during a run', async () => {
    const { data, environment } = await stage()
    await lock(data, waiting('run-1').options)
    const { code, out, err } = await command(['doctor'], environment)
    expect([code, err]).toEqual([0, ''])
    const lines = out.split('\n').slice(0, -1)
    for (const line of lines) expect(line).toMatch(/^(ok|warning) {2,}\S/)
    expect(out).toMatch(
      /^ok +lock +run run-1 \(process \d+ on .*\) is in progress, last heartbeat \S+$/m,
    )
  })

  it('--json prints JSON, without the key', async () => {
    const { environment } = await stage()
    const key = { AGENT_API_KEY: 'sk-secret-9f8e7d6c' }
    const { code, out, err } = await command(['doctor', '--json'], { ...environment, ...key })
    expect(code).toBe(5)
    expect(JSON.parse(out)).toContainEqual(
      expect.objectContaining({ check: 'credential', state: 'wrong', exit_code: 5 }),
    )
    expect(out + err).not.toContain(key.AGENT_API_KEY)
  })

  it('names the organisation of each problem, and counts those without one if there are many', async () => {
    const emulator = await standIn({ users: 1, organisations: 7, now: () => Date.now() })
    const data = await temporaryFolder()
    const config = join(data, 'agent-warehouse.yaml')
    const numbers = [1, 2, 3, 4, 5, 6, 7]
    const lines = numbers.map(
      (at) => `  - {name: number ${at}, base_url: '${emulator.url}', key_env: KEY_${at}}`,
    )
    await writeFile(config, ['organisations:', ...lines].join('\n'), { mode: 0o600 })
    const keyOf = (at: number): string => (at === 3 ? 'no-key-3' : emulator.keysOf(at).owner)
    const keys = Object.fromEntries(numbers.map((at) => [`KEY_${at}`, keyOf(at)]))
    const environment = { ...keys, AGENT_WAREHOUSE_DATA: data }
    const { code, out } = await command(['doctor', '--config', config], environment)
    expect(code).toBe(5)
    expect(out).toMatch(/^wrong +credential +'number 3': GET .* 401 /m)
    expect(out).toMatch(/^ok +address +7 organisations$/m)
    expect(out).toMatch(/^ok +credential +6 organisations$/m)
    expect(out).not.toContain('number 4 ')
    const json: unknown = JSON.parse(
      (await command(['doctor', '--config', config, '--json'], environment)).out,
    )
    expect(json).toContainEqual(
      expect.objectContaining({
        check: 'role',
        message: "the credential of 'number 4' may read the analytics",
      }),
    )
  })

  it.each([
    ['teams.csv', 'user,team\nu,t\n', ":1: column 'valid_from' is missing"],
    [
      'events.csv',
      'event_date,name\n2026-99-01,x\n',
      ":2: column 'event_date': '2026-99-01' is not",
    ],
    ['sessions.csv', 'id\nx\n', ":1: there is no column 'session_id'"],
  ])('names a file on which a night would fail, and exits with 2: %s', async (name, text, why) => {
    const { data, environment } = await stage()
    await mkdir(join(data, 'seeds'))
    await writeFile(join(data, 'seeds', name), text)
    const { code, out } = await command(['doctor'], environment)
    expect(out).toMatch(/^wrong +seeds /m)
    expect(out).toContain(join(data, 'seeds', name) + why)
    expect(code).toBe(2)
  })

  it('says which files it can read, and which would not be used', async () => {
    const { data, environment } = await stage()
    await mkdir(join(data, 'seeds'))
    await writeFile(join(data, 'seeds', 'teams.csv'), 'user,team,valid_from\nu,t,2026-01-14\n')
    await writeFile(join(data, 'seeds', 'team.csv'), '')
    const { code, out } = await command(['doctor'], environment)
    expect(out).toMatch(/^ok +seeds +2 files in .*seeds can be read$/m)
    expect(out).toMatch(/^warning +seeds +.*team\.csv is not used.*Did you mean 'teams'/m)
    expect(code).toBe(0)
  })

  it('says that the engine of the configuration is missing, and exits with 2', async () => {
    const { data, environment } = await stage()
    const config = join(data, 'engine.yaml')
    await writeFile(config, 'engine: spark\nspark:\n  home: /no/spark\n', { mode: 0o600 })
    const { code, out } = await command(['doctor', '--config', config], environment)
    expect(out).toMatch(
      /^wrong +engine +--engine spark: there is no Spark in \/no\/spark: .*Install it/m,
    )
    expect(code).toBe(2)
  })

  it('says how to set a missing key, and exits with code 2', async () => {
    const { data } = await stage()
    const nothing = { AGENT_WAREHOUSE_DATA: join(data, 'new') }
    const { code, out } = await command(['doctor'], nothing)
    expect(code).toBe(2)
    expect(out).toMatch(/^wrong +configuration +no API key: .*export AGENT_API_KEY=<key>$/m)
  })
})

describe('status', () => {
  it('prints times to the second: start and heartbeat of the current run, and the published file', async () => {
    const { data, environment } = await stage()
    await lock(data, waiting('run-1').options)
    await writeFile(join(data, 'warehouse.duckdb'), 'any content')
    const { code, out, err } = await command(['status'], environment)
    expect(code, err).toBe(0)
    expect(out).toMatch(/^running +run run-1, .* since \S+Z, last heartbeat \S+Z$/m)
    expect(out).toMatch(/^published +\S+, \d{4}-\S+Z, \d+ B/m)
    expect(out).not.toMatch(/:\d\d\.\d+Z/)
  })

  it('warns of a damaged run record on standard error, and shows the rest', async () => {
    const { data, environment } = await stage()
    const record = join(data, 'runs', 'half.json')
    await mkdir(join(data, 'runs'))
    await writeFile(record, '{"run_id": "ha')
    const { code, out, err } = await command(['status', '--json'], environment)
    expect([code, err]).toEqual([0, expect.stringContaining(`warning: ${record} is left out`)])
    expect(JSON.parse(out)).toMatchObject({ withoutApp: ['default'] })
  })
})
