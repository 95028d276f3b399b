import { execFileSync } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { run } from '../../src/pipeline/run.ts'
import { temporaryFolder, testWorld } from '../support/helpers.ts'
import { standIn } from '../support/stand-in.ts'

/**
 * A data folder of four people of the stand-in (seed 7) after its nights of 2026-02-01 and
 * 2026-02-02, made by version 0.1.0 at commit 2936a99.
 */
const SAMPLE = join(packageRoot, 'test', 'golden', 'previous', 'data.tar.br')

async function previousData(): Promise<string> {
  const folder = await temporaryFolder()
  const input = brotliDecompressSync(await readFile(SAMPLE))
  execFileSync('tar', ['-x', '-C', folder], { input })
  return join(folder, 'data')
}

async function rawFiles(data: string): Promise<string[]> {
  const raw = join(data, 'lake', 'raw')
  return (await readdir(raw, { recursive: true }))
    .filter((name) => name.endsWith('.parquet'))
    .sort()
}

it('a data folder of the previous version gets an ordinary next night', async () => {
  const data = await previousData()
  const before = await rawFiles(data)
  const now = Date.parse('2026-02-03T06:00:00Z')
  const emulator = await standIn({ now: () => now, users: 4, seed: 7 })
  const world = testWorld(now)
  const config = loadConfig(
    { data, rate: 2000, concurrency: 4 },
    {
      AGENT_BASE_URL: emulator.url,
      AGENT_APP_URL: emulator.appUrl,
      AGENT_API_KEY: emulator.keys.manager,
    },
    data,
  )
  const context = { config, world, runId: 'next', deadline: now + 3_600_000 }
  const outcome = await run(context, {}, () => Promise.resolve([]))
  expect(outcome.exitCode).toBe(0)
  expect(outcome.problems).toEqual([])

  const plan = world.events.find(({ type }) => type === 'plan.made')
  expect(plan, 'one new day and the rechecks').toMatchObject({
    reasons: { missing: 8, failed: 0, forced: 0 },
  })
  const warnings = world.events.flatMap((event) =>
    event.type === 'warning' && event.about !== 'drift' ? [event.message] : [],
  )
  expect(warnings, 'nothing is damaged, added or missing').toEqual([])
  expect(await readdir(data)).not.toContain('quarantine')
  expect(await rawFiles(data), 'no version is replaced').toEqual(expect.arrayContaining(before))

  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    const [row] = await database.rows(`
      select
        (select count(*) from main.fct_org_day) as days, -- 2026-01-19 is empty
        (select count(distinct activity_date) from main.fct_user_day) as days_of_users,
        (select count(distinct org_id) from main.dim_tool) as organisations, -- no key before
        (select count(*) from main.dim_date where org_id = 'org_demo') as dates,
        (select count(*) from meta.intervals where status not in ('landed', 'empty')) as gaps`)
    expect(row).toEqual({
      days: '19',
      days_of_users: '19',
      organisations: '1',
      dates: '20',
      gaps: '0',
    })
  } finally {
    database.close()
  }
})
