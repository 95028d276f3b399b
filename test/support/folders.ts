import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const folders: string[] = []

/** A folder that is removed after the tests of its file. */
export async function folderOfFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-warehouse-'))
  folders.push(folder)
  return folder
}

let root: Promise<string> | undefined
const kept = new Map<string, string>()

/**
 * A data folder as `make` leaves it, which is made once for the tests of a file. It is always at
 * the same path, because a build in a folder that has moved creates every view again. `kept` is a
 * copy for reading.
 */
export async function restoredFolder(
  name: string,
  make: (data: string) => Promise<unknown>,
): Promise<{ readonly data: string; readonly kept: string }> {
  root ??= folderOfFile()
  const data = join(await root, 'data')
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
  const known = kept.get(name)
  if (known !== undefined) {
    await copyFolder(known, data)
    return { data, kept: known }
  }
  await mkdir(data)
  await make(data)
  const copy = join(await root, `copy-${kept.size}`)
  await copyFolder(data, copy)
  kept.set(name, copy)
  return { data, kept: copy }
}

/** Copies a folder with the times and modes of its files. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}

/** To be called after the tests of each file. */
export async function removeFolders(): Promise<void> {
  root = undefined
  kept.clear()
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
}
