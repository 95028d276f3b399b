import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts'
import { Database, identifier } from '../../src/lib/duckdb.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'

const NOW = Date.parse('2026-01-22T05:00:00Z')

/** Marts of what organisations have in common: of these, the keys are a union. */
const SHARED = [
  'dim_client',
  'dim_date',
  'dim_mcp_server',
  'dim_model',
  'dim_tool',
  'map_mcp_server_spelling',
  'map_tool_spelling',
]

/** With users of the same names, and other days and numbers. */
async function organisation(orgId: string, firstDay: string, users: number): Promise<Emulator> {
  const emulator = await startEmulator({ orgId, firstDay, users, now: () => NOW })
  onTestFinished(() => emulator.close())
  return emulator
}

/** The marts of one run over organisations: of each its columns and rows, without times of fetching. */
async function martsOf(organisations: Readonly<Record<string, Emulator>>) {
  const data = await temporaryFolder()
  await mkdir(join(data, 'seeds'))
  await writeFile(
    join(data, 'seeds', 'events.csv'),
    'event_date,name,description,team\n2026-01-19,Rollout,,\n',
  )
  const entries = Object.entries(organisations)
  const config = join(data, 'agent-warehouse.yaml')
  const lines = entries.map(
    ([name, { url, appUrl }]) =>
      `  - { name: ${name}, base_url: '${url}', app_url: '${appUrl}', key_env: KEY_${name} }\n`,
  )
  await writeFile(config, `organisations:\n${lines.join('')}`)
  const keys = entries.map(([name, { keys }]) => [`KEY_${name}`, keys.manager] as const)
  const outcome = await command(['run', '--log', 'none', '--config', config], {
    ...Object.fromEntries(keys),
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_RATE: '2000',
    AGENT_WAREHOUSE_REDACTION_KEY: '5e'.repeat(32),
  })
  expect(outcome, outcome.err).toMatchObject({ code: 0 })

  const warehouse = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    const tables = await warehouse.rows(
      `select table_name, list(column_name order by ordinal_position)
          filter (not starts_with(data_type, 'TIMESTAMP')) as columns,
        bool_or(column_name = 'org_id') as is_of_organisations
      from information_schema.columns where table_schema = 'main' group by 1 order by 1`,
    )
    const marts: Record<string, { rows: string[]; isOfOrganisations: boolean }> = {}
    for (const { table_name, columns, is_of_organisations } of tables) {
      const name = z.string().parse(table_name)
      const kept = z.array(z.string()).parse(columns).map(identifier).join(', ')
      const { rows } = await warehouse.table(`select ${kept} from main.${name}`)
      marts[name] = {
        rows: rows.map((row) => JSON.stringify(row)).toSorted(),
        isOfOrganisations: is_of_organisations === true,
      }
    }
    return marts
  } finally {
    warehouse.close()
  }
}

/** Their first columns, sorted. */
function keysOf(rows: readonly string[]): string[] {
  const first = z.tuple([z.string()], z.unknown())
  return rows.map((row) => first.parse(JSON.parse(row))[0]).toSorted()
}

it('law 6: the warehouse of two organisations is the union of theirs', async () => {
  const one = await organisation('org_one', '2026-01-12', 6)
  const two = await organisation('org_two', '2026-01-14', 9)
  const fleet = await martsOf({ one, two })
  const [alone, other] = [await martsOf({ one }), await martsOf({ two })]
  expect(Object.keys(fleet)).toEqual(Object.keys(alone))
  const shared = Object.keys(fleet).filter((name) => fleet[name]?.isOfOrganisations === false)
  expect(shared).toEqual(SHARED)
  for (const [name, { rows, isOfOrganisations }] of Object.entries(fleet)) {
    const union = [...(alone[name]?.rows ?? []), ...(other[name]?.rows ?? [])].toSorted()
    if (isOfOrganisations) expect(rows, name).toEqual(union)
    else expect(keysOf(rows), name).toEqual([...new Set(keysOf(union))])
  }
  expect(fleet['fct_user_day']?.rows.length).toBeGreaterThan(20)
})
