import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MAIN } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { leaveLease } from '../support/lease.ts'

/** Another user if this one is root, who may read every folder. */
const OTHER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

it('a folder that the user may not read, as in the root of a file system, stops neither doctor nor the run after a killed one', async () => {
  const data = await temporaryFolder()
  const closed = join(data, 'lost+found')
  await mkdir(closed)
  await leaveLease(join(data, 'state', 'lock'), { begun: '1' })
  await chmod(join(data, 'state'), 0o700)
  await chmod(join(data, 'state', 'lock'), 0o600)
  const { uid, gid } = OTHER
  if (uid !== undefined) {
    for (const path of ['', 'lost+found', 'state', 'state/lock'])
      await chown(join(data, path), uid, gid)
  }
  await chmod(closed, 0o000)
  const env = { PATH: process.env['PATH'] ?? '' }
  const ask = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, ...args, '--data', data], {
      cwd: '/',
      env,
      encoding: 'utf8',
      ...OTHER,
    })
  const doctor = ask('doctor')
  const compact = ask('compact', '--log', 'text')
  await chmod(closed, 0o700)
  expect(compact.stderr).toContain('the last run was killed')
  expect(compact, compact.stderr).toMatchObject({ status: 0 })
  expect(doctor.stdout).toMatch(/ok +permissions/)
})
