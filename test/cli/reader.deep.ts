import { spawnSync } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAIN } from '../support/command.ts'
import { NOW } from './command-stage.ts'
import { published, type Published } from './published-stage.ts'

let stage: Published

beforeAll(async () => {
  const days = ['--from', '2026-02-01', '--to', '2026-02-01', '--only', 'users']
  stage = await published({ users: 3, now: () => NOW }, days)
  await chmod(dirname(stage.data), 0o755)
  await chmod(stage.data, 0o555)
  await chmod(join(stage.data, 'warehouse.duckdb'), 0o444)
})

afterAll(async () => {
  await chmod(stage.data, 0o700)
  await stage.close()
})

/** Runs the command as a user that is not root, because root may write everywhere. */
function asReader(args: readonly string[]) {
  const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const env = { PATH: process.env['PATH'] ?? '' }
  const where = { cwd: dirname(stage.data), env, encoding: 'utf8', ...other } as const
  return spawnSync(process.execPath, [MAIN, ...args, '--data', stage.data], where)
}

describe('for a user with read-only access to the data folder,', () => {
  it('report suggests another path', () => {
    const { status, stderr } = asReader(['report'])
    expect(stderr).toMatch(
      /^agent-warehouse: this user may not access a file: EACCES.* name another path\./s,
    )
    expect(status).toBe(2)
  })

  it('query says that the user may not read the warehouse, not that a program has it open', async () => {
    await chmod(join(stage.data, 'warehouse.duckdb'), 0o000)
    const { status, stderr } = asReader(['query', 'select 1'])
    await chmod(join(stage.data, 'warehouse.duckdb'), 0o444)
    expect(stderr).toMatch(
      /^agent-warehouse: this user may not access a file: EACCES.*warehouse\.duckdb'\n {2}Fix its permissions/,
    )
    expect(status).toBe(2)
  })
})
