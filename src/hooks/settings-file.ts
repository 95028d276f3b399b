import { constants } from 'node:fs'
import { copyFile, mkdir, open, readdir, readFile, realpath, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { UsageError } from '../lib/errors.ts'
import { temporaryPath, isMissing, readIfThere, removeFile, syncFolder } from '../lib/files.ts'
import { JsonSyntaxError } from './json-edit.ts'

/** A settings file as it was read. */
export interface SettingsFile {
  /** Where it is, links followed. */
  readonly path: string
  /** Undefined: there is none. */
  readonly text: string | undefined
}

/** Of the copies that are made before a change so many are kept. */
const KEPT_BACKUPS = 5

/** What an edit of a file that is not there begins with. */
export const NO_SETTINGS = '{}\n'

/** @throws UsageError when it is not UTF-8; what the file system says. */
export async function readSettings(path: string): Promise<SettingsFile> {
  try {
    const real = await realpath(path)
    const bytes = await readFile(real)
    const text = bytes.toString('utf8')
    if (!Buffer.from(text).equals(bytes)) {
      throw new UsageError(`${real} is not UTF-8; nothing was changed`)
    }
    return { path: real, text }
  } catch (error) {
    if (isMissing(error)) return { path, text: undefined }
    throw error
  }
}

/** Runs an edit of the settings. @throws UsageError with line and column where they are broken. */
export function edited<T>(
  { path, text = NO_SETTINGS }: SettingsFile,
  edit: (text: string) => T,
): T {
  try {
    return edit(text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new UsageError(`${path}:${error.line}:${error.column}: ${error.message}`, {
      hint: 'Fix the settings file and run this again; nothing was changed.',
      cause: error,
    })
  }
}

/**
 * Puts the text in the file's place: a copy of what was there first, then aside,
 * synced and renamed, with the permissions the file had.
 *
 * @returns the path of the copy; null where there was no file.
 * @throws UsageError when the file was changed since it was read.
 */
export async function writeSettings(
  file: SettingsFile,
  text: string,
  now: number,
): Promise<string | null> {
  await mkdir(dirname(file.path), { recursive: true })
  const mode = file.text === undefined ? 0o644 : (await stat(file.path)).mode & 0o777
  const temporary = temporaryPath(file.path)
  try {
    await writeAside(temporary, text, mode)
    if ((await readIfThere(file.path)) !== file.text) {
      throw new UsageError(`${file.path} was changed meanwhile`, { hint: 'Run this again.' })
    }
    const backup = file.text === undefined ? null : await backUp(file.path, now)
    await rename(temporary, file.path)
    await syncFolder(dirname(file.path))
    return backup
  } catch (error) {
    await removeFile(temporary)
    throw error
  }
}

async function writeAside(path: string, text: string, mode: number): Promise<void> {
  const handle = await open(path, 'wx', mode)
  try {
    await handle.writeFile(text)
    await handle.chmod(mode)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function backUp(path: string, now: number): Promise<string> {
  const time = new Date(now).toISOString().replaceAll(/[-:.]/g, '')
  const backup = `${path}.${time}.bak`
  await copyFile(path, backup, constants.COPYFILE_FICLONE)
  const folder = dirname(path)
  const backups = (await readdir(folder))
    .filter((name) => name.startsWith(`${basename(path)}.`) && /\.\d{8}T\d{9}Z\.bak$/.test(name))
    .sort()
  for (const old of backups.slice(0, -KEPT_BACKUPS)) await removeFile(join(folder, old))
  return backup
}
