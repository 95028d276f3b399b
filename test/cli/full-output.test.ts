import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MAIN } from '../support/command.ts'

/** A device on which every write fails, as on a full disk. */
const FULL = '/dev/full'

/** Runs the command with one of its outputs on the full device. */
function withFull(output: 'stdout' | 'stderr', args: readonly string[]) {
  const full = openSync(FULL, 'w')
  try {
    const stdio: ['ignore', 'pipe' | number, 'pipe' | number] =
      output === 'stdout' ? ['ignore', full, 'pipe'] : ['ignore', 'pipe', full]
    return spawnSync(process.execPath, [MAIN, ...args], { stdio, encoding: 'utf8' })
  } finally {
    closeSync(full)
  }
}

it.skipIf(!existsSync(FULL))(
  'output that cannot be written is reported on one line and exits with code 1',
  () => {
    const { status, stderr } = withFull('stdout', ['--help'])
    expect(stderr).toMatch(/^agent-warehouse: the output cannot be written: ENOSPC.*\n$/)
    expect(status).toBe(1)
  },
)

it.skipIf(!existsSync(FULL))(
  'messages that cannot be written do not end the command: its exit code stays',
  () => {
    expect(withFull('stderr', ['query', '--lst']).status).toBe(2)
  },
)
