import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MAIN } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { leaveLease } from '../support/lease.ts'

/** Another user if this one is root, who may read every folder. */
const OTHER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Runs the command as that user. */
function runAsOther(data: string, ...args: string[]) {
  return spawnSync(process.execPath, [MAIN, ...args, '--data', data], {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
    encoding: 'utf8',
    ...OTHER,
  })
}

async function giveToOther(data: string, paths: readonly string[]): Promise<void> {
  const { uid, gid } = OTHER
  if (uid === undefined) return
  for (const path of paths) await chown(join(data, path), uid, gid)
}

it('a folder that the user may read and not write, as after a run of another one, is a fault for doctor', async () => {
  const data = await temporaryFolder()
  const state = join(data, 'state')
  await mkdir(state)
  await mkdir(join(data, 'seeds'))
  await giveToOther(data, ['', 'state'])
  await chmod(join(data, 'seeds'), 0o555)
  await chmod(state, 0o500)
  const doctor = runAsOther(data, 'doctor')
  await chmod(state, 0o700)
  expect(doctor.stdout).toMatch(/^wrong +data folder +.* cannot be written: EACCES.*state'/m)
  expect(doctor.status).toBe(2)
  expect(runAsOther(data, 'doctor').stdout).toMatch(/^ok +data folder/m)
})

it('a folder that the user may not read, as in the root of a file system, stops neither doctor nor the run after a killed one', async () => {
  const data = await temporaryFolder()
  const closed = join(data, 'lost+found')
  await mkdir(closed)
  await leaveLease(join(data, 'state', 'lock'), { begun: '1' })
  await chmod(join(data, 'state'), 0o700)
  await chmod(join(data, 'state', 'lock'), 0o600)
  await giveToOther(data, ['', 'lost+found', 'state', 'state/lock'])
  await chmod(closed, 0o000)
  const doctor = runAsOther(data, 'doctor')
  const compact = runAsOther(data, 'compact', '--log', 'text')
  await chmod(closed, 0o700)
  expect(compact.stderr).toContain('the last run was killed')
  expect(compact, compact.stderr).toMatchObject({ status: 0 })
  expect(doctor.stdout).toMatch(/ok +permissions/)
})
