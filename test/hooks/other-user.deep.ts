import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { hookFolders, spoolEvent } from '../../src/hooks/record.ts'
import { MAIN } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'

/** Another user if this one is root, who may read every file. */
const OTHER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** A data folder in which an agent of another user has recorded one event, and this user's agent one. */
async function shared() {
  const data = await temporaryFolder()
  const folders = hookFolders(data)
  const channels = '{ chime: { type: sound, file: /none.wav, player: "true" } }'
  const rules = '[{ events: [Stop], channels: [chime] }]'
  const config = join(data, 'agent-warehouse.yaml')
  await writeFile(config, `hooks: { channels: ${channels}, rules: ${rules} }\n`)
  const denied: string[] = []
  for (const [index, eventId] of ['denied', 'read'].entries()) {
    const id = `00000000-0000-4000-8000-00000000000${index}`
    const input = `{"hook_event_name":"Stop","session_id":"${eventId}"}`
    const { name, text } = await spoolEvent(folders, { eventId: id, recordedAt: Date.now(), input })
    await mkdir(folders.inbox, { recursive: true })
    await writeFile(join(folders.inbox, name), text)
    if (index === 0) denied.push(join(folders.spool, name), join(folders.inbox, name))
  }
  for (const path of [folders.recent, join(folders.outbox, 'a.json')]) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, '{}')
    denied.push(path)
  }
  const { uid, gid } = OTHER
  if (uid !== undefined) {
    const paths = await readdir(data, { recursive: true })
    for (const path of ['', ...paths]) await chown(join(data, path), uid, gid)
  }
  for (const path of denied) {
    await chmod(path, 0)
    if (uid !== undefined) await chown(path, 0, 0)
  }
  const ask = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, ...args, '--data', data, '--config', config], {
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
      encoding: 'utf8',
      ...OTHER,
    })
  return { folders, ask }
}

it('an event that this user may not read stays in the spool, and the others are loaded', async () => {
  const { folders, ask } = await shared()
  const build = ask('build')
  expect(build, build.stderr).toMatchObject({ status: 0 })
  expect(build.stderr).toContain(`1 hook event in ${folders.spool} cannot be loaded`)
  expect(await readdir(folders.spool)).toHaveLength(1)
  expect(ask('query', 'select session_id from fct_hook_event').stdout).toContain('read')
})

it('an event that this user may not read does not stop the notifications of others', async () => {
  const { ask } = await shared()
  expect(ask('hooks', 'flush')).toMatchObject({
    status: 0,
    stdout: 'delivered 1, given up 0, waiting 0\n',
  })
})
