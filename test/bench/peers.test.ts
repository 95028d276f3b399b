import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { withTable, type Comparison } from '../../bench/peers/table.mjs'
import { packageRoot } from '../../src/lib/package.ts'

const read = (name: string): string => readFileSync(join(packageRoot, name), 'utf8')
const count = z.int().nonnegative()
const schema = z.object({
  at: z.iso.datetime(),
  machine: z.object({ cpu: z.string(), cores: count, memoryGB: count }),
  versions: z.record(z.string(), z.string()),
  command: z.string(),
  served: count.min(200_000),
  tools: z.array(
    z.object({
      name: z.string(),
      seconds: z.number(),
      cpuSeconds: z.number(),
      peakBytes: z.number(),
      requests: count,
      rows: count,
      distinct: count,
    }),
  ),
})
const result: Comparison = schema.parse(JSON.parse(read('bench/peers/result.json')))

describe('the comparison with dlt in the README', () => {
  it('is the table of the last bench result, without manual edits', () => {
    const readme = read('README.md')
    expect(withTable(readme, result)).toBe(readme)
  })

  it('counts lost and duplicated rows of a tool', () => {
    const [tool] = result.tools
    if (tool === undefined) throw new Error('the comparison has no tool')
    const tools = [{ ...tool, rows: result.served + 5, distinct: result.served - 7 }]
    const page = withTable('<!-- peers: written by make bench-peers --><!-- /peers -->', {
      ...result,
      tools,
    })
    expect(page).toMatch(/[\d,]+, 7 lost, 12 doubled \|/)
  })

  it('names the versions that requirements.txt pins', () => {
    const list = read('bench/peers/requirements.txt')
    for (const name of ['dlt', 'DuckDB', 'PyArrow']) {
      expect(list).toContain(`\n${name.toLowerCase()}==${result.versions[name] ?? ''}\n`)
    }
  })
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
    expect(stderr).toContain('requirements.txt')
  } finally {
    rmSync(empty, { recursive: true })
  }
})
