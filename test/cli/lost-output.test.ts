import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MAIN } from '../support/command.ts'

/** Runs the command with one of its outputs in a file that is open for reading only. */
function withClosed(output: 'stdout' | 'stderr', args: readonly string[]) {
  const closed = openSync(MAIN, 'r')
  try {
    const stdio: ['ignore', 'pipe' | number, 'pipe' | number] =
      output === 'stdout' ? ['ignore', closed, 'pipe'] : ['ignore', 'pipe', closed]
    return spawnSync(process.execPath, [MAIN, ...args], { stdio, encoding: 'utf8' })
  } finally {
    closeSync(closed)
  }
}

it('output that cannot be written is reported on one line and exits with code 1', () => {
  const { status, stderr } = withClosed('stdout', ['--help'])
  expect(stderr).toMatch(/^agent-warehouse: the output cannot be written: EBADF.*\n$/)
  expect(status).toBe(1)
})

it('messages that cannot be written do not end the command: its exit code stays', () => {
  expect(withClosed('stderr', ['query', '--lst']).status).toBe(2)
})
