import fs from 'node:fs'
import { readFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { handToSender, hookFolders, noteLast, spoolEvent } from '../../src/hooks/record.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { namesIn } from './support.ts'

/** Removes the first temporary file of each path before it is renamed, as a run does after a killed one. */
function removeTemporaries(): Set<string> {
  const { renameSync } = fs
  const removed = new Set<string>()
  const use = (rename: typeof renameSync): void => {
    fs.renameSync = rename
    syncBuiltinESMExports()
  }
  use((from, to) => {
    if (!removed.has(String(to))) fs.rmSync(from)
    removed.add(String(to))
    renameSync(from, to)
  })
  onTestFinished(() => {
    use(renameSync)
  })
  return removed
}

it('an event is recorded while a run removes the temporary files of a killed one', async () => {
  const folders = hookFolders(await temporaryFolder())
  const removed = removeTemporaries()
  const recordedAt = Date.parse('2026-03-10T06:00:00Z')
  const record = { eventId: '00000000-0000-4000-8000-000000000001', recordedAt, input: '{}' }
  const { name, text } = await spoolEvent(folders, record)
  await handToSender(folders, { name, text })
  await noteLast(folders, 'Stop', recordedAt)
  const { spool, inbox, last } = folders
  expect([await namesIn(spool), await namesIn(inbox)]).toEqual([[name], [name]])
  expect(await readFile(join(spool, name), 'utf8')).toBe(text)
  expect(await readFile(join(inbox, name), 'utf8')).toBe(text)
  expect(await readFile(join(last, 'Stop'), 'utf8')).toBe('2026-03-10T06:00:00.000Z\n')
  expect(removed.size).toBe(3)
})
