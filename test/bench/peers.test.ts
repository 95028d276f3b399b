import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { KINDS, planFaults } from '../../bench/peers/faults.mjs'
import { pictureOf } from '../../bench/peers/picture.mjs'
import { withTables, type Comparison } from '../../bench/peers/table.mjs'
import { packageRoot } from '../../src/lib/package.ts'

const read = (name: string): string => readFileSync(join(packageRoot, name), 'utf8')
const count = z.int().nonnegative()
const run = {
  at: z.iso.datetime(),
  machine: z.object({ cpu: z.string(), cores: count, memoryGB: count }),
  versions: z.record(z.string(), z.string()),
}
const cost = {
  name: z.string(),
  seconds: z.number(),
  cpuSeconds: z.number(),
  peakBytes: z.number(),
}
const rows = { requests: count, rows: count, distinct: count }
const schema = z.object({
  landing: z.object({
    ...run,
    served: count.min(200_000),
    tools: z.array(z.object({ ...cost, ...rows })),
    kinds: z.array(z.string()),
    faults: z.array(
      z.object({ name: z.string(), runs: count, isComplete: z.boolean(), refused: count, ...rows }),
    ),
  }),
  building: z.object({
    ...run,
    rows: count,
    tools: z.array(z.object({ ...cost, checks: count })),
  }),
})
const result: Comparison = schema.parse(JSON.parse(read('bench/peers/result.json')))

describe('the comparison with other tools in the README', () => {
  it('has the tables and the picture of the last bench result, without manual edits', () => {
    const readme = read('README.md')
    expect(withTables(readme, result)).toBe(readme)
    expect(pictureOf(result)).toBe(read('assets/peers.svg'))
  })

  it('counts lost and duplicated rows of a tool', () => {
    const { landing, building } = result
    const [tool] = landing.tools
    if (tool === undefined) throw new Error('the comparison has no tool')
    const wrong = { ...tool, rows: landing.served + 5, distinct: landing.served - 7 }
    const page = withTables('<!-- peers: written by make bench-peers --><!-- /peers -->', {
      landing: { ...landing, tools: [wrong] },
      building,
    })
    expect(page).toMatch(/[\d,]+, 7 lost, 12 doubled \|/)
  })

  it.each([
    ['bench/peers/dlt.txt', ['dlt', 'duckdb', 'pyarrow'], 'landing'],
    ['bench/peers/singer.txt', ['singer-sdk', 'target-duckdb', 'duckdb'], 'landing'],
    ['bench/peers/sqlmesh.txt', ['sqlmesh'], 'building'],
    ['test/dbt/requirements.txt', ['dbt-core', 'dbt-duckdb', 'duckdb'], 'building'],
  ] as const)('names the versions that %s pins', (list, names, part) => {
    for (const name of names) {
      expect(read(list)).toContain(`\n${name}==${result[part].versions[name] ?? ''}\n`)
    }
  })
})

it('planned faults are the same for each tool, of every kind, one page in 50', () => {
  const body = (user: string): Buffer => Buffer.from(JSON.stringify({ data: [{ user }], meta: {} }))
  const answers = new Map(
    Array.from({ length: 500 }, (_, at) => [
      `/users?cursor=${at}`,
      { status: 200, headers: {}, body: body(`u${at}`), head: 0, whole: 0 },
    ]),
  )
  const faults = planFaults(answers)
  expect(planFaults(answers)).toEqual(faults)
  expect([...faults.values()].map(({ kind }) => kind)).toEqual([
    ...Object.keys(KINDS),
    ...Object.keys(KINDS),
  ])
  const moved = [...faults.values()].find(({ kind }) => kind === 'moved')
  expect(String(moved?.answer.body)).toBe('{"data":[{"user":"u224"},{"user":"u225"}],"meta":{}}')
})

it('the comparison without Python fails at once, and says what it needs', () => {
  const empty = mkdtempSync(join(tmpdir(), 'no-python-'))
  try {
    const { status, stderr } = spawnSync(process.execPath, ['bench/run.mjs', 'peers'], {
      cwd: packageRoot,
      env: { PATH: empty, TMPDIR: empty },
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toContain('bench peers: this needs python3')
    expect(stderr).toContain('dlt.txt')
  } finally {
    rmSync(empty, { recursive: true })
  }
})
