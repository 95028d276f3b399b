import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders: string[] = []

/** A folder that is removed after the tests of its file. */
export async function folderOfFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-warehouse-'))
  folders.push(folder)
  return folder
}

/** To be called after the tests of each file. */
export async function removeFolders(): Promise<void> {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
}
