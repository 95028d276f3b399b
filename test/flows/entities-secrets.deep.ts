import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEMO_SECRETS, type EmulatorOptions } from '../../src/emulator/emulator.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

const NOW = Date.parse('2026-01-18T02:00:00Z')

/** Of any form, at any place, under any name, as settings that are not documented may have them. */
const OWN_SECRETS = ['hunter2-plain', 'correct horse battery', 'Zürich\u2028"key"', '777000111222']

const SETTINGS = {
  customModels: [
    {
      model: 'm',
      provider: 'service',
      apiKey: OWN_SECRETS[0],
      extraHeaders: { A: OWN_SECRETS[1] },
    },
  ],
  vaultOfTomorrow: {
    anything: [{ at: { any: [OWN_SECRETS[0], OWN_SECRETS[2]] } }],
    pin: Number(OWN_SECRETS[3]),
  },
  maxAutonomyLevel: OWN_SECRETS[1],
}

/** A secret as it is, and as JSON spells it. */
function spellings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  return [...new Set([secret, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(secret)])]
}

const ALL = [...DEMO_SECRETS, ...OWN_SECRETS]

function foundIn(text: string): string[] {
  return ALL.filter((secret) => spellings(secret).some((each) => text.includes(each)))
}

async function stage(options: Partial<EmulatorOptions> = {}) {
  const emulator = await standIn({
    users: 3,
    now: () => NOW,
    ...options,
  })
  const data = await temporaryFolder()
  const environment = {
    ...environmentOf(emulator, data),
    AGENT_APP_URL: emulator.appUrl,
  }
  const ids = emulator.sessionIds()
  const messages = ids.flatMap((id) => emulator.messageIds(id).map((message) => `${id},${message}`))
  await writeAtomic(join(data, 'seeds', 'sessions.csv'), ['session_id', ...ids, ''].join('\n'))
  await writeAtomic(
    join(data, 'seeds', 'messages.csv'),
    ['session_id,message_id', ...messages.slice(0, 40), ''].join('\n'),
  )
  return { emulator, data, environment }
}

/** Names of files in whose bytes, or in any of whose columns, a secret is. */
async function filesWithSecrets(folder: string): Promise<string[]> {
  const found: string[] = []
  await using memory = await Database.open(':memory:')
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const texts = [await readFile(path, 'utf8'), await readFile(path, 'utf16le'), path]
    if (path.endsWith('.parquet')) texts.push(...(await valuesOfParquet(memory, path)))
    if (path.endsWith('.duckdb')) texts.push(...(await valuesOfWarehouse(path)))
    const secrets = texts.flatMap(foundIn)
    if (secrets.length > 0) found.push(`${path}: ${[...new Set(secrets)].join(', ')}`)
  }
  return found
}

async function valuesOfParquet(memory: Database, path: string): Promise<string[]> {
  const rows = await memory.rows(`from read_parquet('${path}', hive_partitioning = false)`)
  const metadata = await memory.rows(
    `select decode(key) as k, decode(value) as v from parquet_kv_metadata('${path}')`,
  )
  return [JSON.stringify(rows), JSON.stringify(metadata)]
}

async function valuesOfWarehouse(path: string): Promise<string[]> {
  await using database = await Database.open(path, { readOnly: true })
  const tables = await database.rows(
    'select schema_name as s, table_name as t from duckdb_tables() where not internal',
  )
  const values: string[] = []
  for (const { s, t } of tables)
    values.push(JSON.stringify(await database.rows(`from "${s as string}"."${t as string}"`)))
  return values
}

describe('a secret that the platform sends', () => {
  it('law 11: reaches no file, column, log line or output, whatever its name and place', async () => {
    const { data, environment } = await stage({
      intercept: async ({ path, answer }) => {
        if (!path.includes('enterprise-controls')) return undefined
        const page = (await (await answer()).json()) as { changes: object[] }
        const [first] = page.changes
        const own = { ...first, revision: 9_000, settings: SETTINGS, later: OWN_SECRETS }
        return Response.json({ ...page, changes: [own, ...page.changes] })
      },
    })
    const night = await command(['run', '--log', 'json'], environment)
    expect(night, night.err).toMatchObject({ code: 0 })
    expect(foundIn(night.out + night.err)).toEqual([])
    expect(await filesWithSecrets(data)).toEqual([])
    const controls = await valuesOfWarehouse(join(data, 'warehouse.duckdb'))
    expect(controls.join('')).toMatch(/\[redacted:[0-9a-f]{8}\]/)
  })

  it('law 11: is not shown or stored with an error, with the log as JSON and as text', async () => {
    const echoed = `the value ${ALL.join(' and ')} is wrong`
    const options: Partial<EmulatorOptions> = {
      intercept: async ({ path, query, answer }) => {
        if (path.includes('enterprise-controls')) {
          return query.has('cursor')
            ? Response.json({ title: echoed, detail: echoed, status: 400 }, { status: 400 })
            : new Response((await (await answer()).text()).slice(0, -40), {
                status: 200,
                headers: { 'content-type': 'application/json' },
              })
        }
        const detail = `tried with apiKey=${OWN_SECRETS[0] ?? ''} and ${DEMO_SECRETS[0] ?? ''} at https://u:${OWN_SECRETS[3] ?? ''}@h`
        if (path.endsWith('/computers'))
          return Response.json({ title: 'Bad', detail, status: 500 }, { status: 500 })
        if (path.includes('/usage/limits'))
          return new Response(JSON.stringify({ apiKey: ALL }).slice(0, -3))
        return undefined
      },
    }
    const syncs = ['json', 'text'].map(async (log) => {
      const { data, environment } = await stage(options)
      const sync = await command(['sync', '--log', log], environment)
      expect(sync.code).toBe(3)
      expect(foundIn(sync.out + sync.err)).toEqual([])
      expect(await filesWithSecrets(data)).toEqual([])
      expect(sync.err).toContain('enterprise-controls/history')
    })
    await Promise.all(syncs)
  })
})
