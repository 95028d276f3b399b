import { spawn } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import { type Outcome } from '../support/command.ts'
import { MACHINE } from '../support/machine.ts'
import { martsOf, publishedNight, twoNights } from './published.ts'

const MAIN = join(packageRoot, 'dist', 'cli', 'main.js')
const FULL_DISK = join(packageRoot, 'test', 'support', 'full-disk.mjs')

/** Runs a line of the shell in which `$NODE` and `$MAIN` are the command. */
function shell(line: string, environment: Record<string, string>): Promise<Outcome> {
  const child = spawn('bash', ['-c', line], {
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE: process.execPath,
      MAIN,
      ...MACHINE,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err]: [string[], string[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk.toString()))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ code, out: out.join(''), err: err.join('') })
    })
  })
}

function expectFullDisk({ code, err }: Outcome): void {
  expect(code, err).toBe(1)
  const lines = err.split('\n').filter((line) => line !== '')
  expect(lines[0]).toContain('no space left')
  expect(lines[1]).toContain('what was published is unchanged')
  expect(lines).toHaveLength(2)
}

async function leftovers(data: string): Promise<string[]> {
  const files = await readdir(data, { recursive: true })
  return files.filter((name) => name.endsWith('.part') || name.endsWith('.wal'))
}

describe('a full disk', () => {
  it('at any write ends the run with one line, keeps what was published, and the next run completes', async () => {
    const { first: yesterday, second: undisturbed } = await twoNights()
    const { data, environment } = await publishedNight(2)

    const failures: Outcome[] = []
    for (let fullAt = 1; ; fullAt = fullAt * 2) {
      const full = {
        ...environment,
        NODE_OPTIONS: `--import=${FULL_DISK}`,
        FULL_AT: String(fullAt),
      }
      const outcome = await shell('$NODE $MAIN run --log none', full)
      expect(await leftovers(data)).toEqual([])
      if (outcome.code === 0) break
      expectFullDisk(outcome)
      failures.push(outcome)
      expect([yesterday, undisturbed]).toContainEqual(await martsOf(data))
    }
    expect(failures.length).toBeGreaterThan(5)
    expect(await martsOf(data)).toEqual(undisturbed)
  })

  it('while DuckDB writes base or the next warehouse ends the build with one line, and the next build completes', async () => {
    const { data, environment, work } = await publishedNight()
    const published = await martsOf(data)
    await rm(join(data, 'lake/base'), { recursive: true })
    for (const kilobytes of [4, 4000]) {
      const line = `ulimit -f ${kilobytes}; $NODE $MAIN build --log none`
      expectFullDisk(await shell(line, environment))
      expect(await martsOf(data)).toEqual(published)
      expect(await leftovers(data)).toEqual([])
    }
    expect(await work('build')).toMatchObject({ code: 0 })
    expect(await martsOf(data)).toEqual(published)
  })
})
