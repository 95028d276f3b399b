import { constants, type Stats } from 'node:fs'
import {
  chmod,
  chown,
  copyFile,
  lstat,
  readdir,
  readFile,
  realpath,
  stat,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../lib/errors.ts'
import {
  codeOf,
  isMissing,
  orIfMissing,
  putInPlace,
  readIfThere,
  readJson,
  removeFile,
  syncFile,
  withTemporary,
  writeAtomic,
} from '../lib/files.ts'
import { shellWord } from '../lib/text.ts'
import { JsonSyntaxError } from './json-edit.ts'
import type { HookFolders } from './record.ts'

export type SettingsFile = Readonly<Awaited<ReturnType<typeof readSettings>>>

const KEPT_BACKUPS = 5

/** The text that an edit starts from if there is no file. */
export const NO_SETTINGS = '{}\n'

/**
 * The path of the file with links resolved, and its text; undefined if there is no file.
 *
 * @throws UsageError for a folder, a link to nothing, which would be replaced, and text that is not
 *   UTF-8; errors of the file system.
 */
export async function readSettings(path: string) {
  try {
    const real = await realpath(path)
    const bytes = await readFile(real)
    const text = bytes.toString('utf8')
    if (!Buffer.from(text).equals(bytes)) {
      throw new UsageError(`${real} is not UTF-8; nothing was changed`)
    }
    return { path: real, text }
  } catch (error) {
    if (codeOf(error) === 'EISDIR') {
      throw new UsageError(`${path} is a folder, but must be the settings file`, {
        hint: `Name the file in it: --settings ${shellWord(join(path, 'settings.json'))}`,
      })
    }
    if (!isMissing(error)) throw error
    const link = await orIfMissing(lstat(path), undefined)
    if (link === undefined) return { path, text: undefined }
    throw new UsageError(`${path} is a link to a file that does not exist`, {
      hint: 'Create that file, with the content {}, or remove the link.',
    })
  }
}

/** Runs an edit of the settings. @throws UsageError with line and column for invalid JSON. */
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
 * Replaces the file by a temporary one, synced and renamed, with the same permissions and
 * owner, after making a backup.
 *
 * @returns the path of the backup; null if there was no file.
 * @throws UsageError if the file was changed since it was read.
 */
export async function writeSettings(
  file: SettingsFile,
  text: string,
  now: number,
): Promise<string | null> {
  const before = file.text === undefined ? undefined : await stat(file.path)
  const mode = (before?.mode ?? 0o644) & 0o777
  return withTemporary(file.path, async (temporary) => {
    await writeFile(temporary, text, { flag: 'wx', mode })
    await chmod(temporary, mode) // whatever the umask
    await syncFile(temporary)
    if ((await readIfThere(file.path)) !== file.text) {
      throw new UsageError(`${file.path} was changed in the meantime`, { hint: 'Run this again.' })
    }
    const backup = before === undefined ? null : await backUp(file.path, before, now)
    if (before !== undefined) await giveTo(before, temporary)
    await putInPlace(temporary, file.path)
    return backup
  })
}

/** If root edits the settings of another user, whose agent reads them. Others need not, and may not. */
async function giveTo({ uid, gid }: Stats, path: string): Promise<void> {
  await chown(path, uid, gid).catch(() => undefined)
}

async function backUp(path: string, owner: Stats, now: number): Promise<string> {
  const time = new Date(now).toISOString().replaceAll(/[-:.]/g, '')
  const backup = `${path}.${time}.bak`
  await copyFile(path, backup, constants.COPYFILE_FICLONE)
  await giveTo(owner, backup)
  const folder = dirname(path)
  const backups = (await readdir(folder))
    .filter((name) => name.startsWith(`${basename(path)}.`) && /\.\d{8}T\d{9}Z\.bak$/.test(name))
    .sort()
  for (const old of backups.slice(0, -KEPT_BACKUPS)) await removeFile(join(folder, old))
  return backup
}

const installedSchema = z.record(z.string(), z.object({ created: z.array(z.string()) }))

/** The containers that `install` created in each settings file: `uninstall` removes no others. */
export async function readInstalled({ installed }: HookFolders) {
  return installedSchema.safeParse(await readJson(installed, () => undefined)).data ?? {}
}

/** Records containers that `install` created; null removes the record. */
export async function noteCreated(
  folders: HookFolders,
  settings: string,
  created: readonly string[] | null,
): Promise<void> {
  const { [settings]: before, ...others } = await readInstalled(folders)
  const all = [...new Set([...(before?.created ?? []), ...(created ?? [])])]
  const next = created === null ? others : { ...others, [settings]: { created: all } }
  await writeAtomic(folders.installed, `${JSON.stringify(next, null, 2)}\n`)
}

const CONTEXT = 2

/** The changed lines (`-` removed, `+` added) between two texts, with their context. */
export function diffLines(before: string, after: string): string[] {
  const lines = compare(before.split('\n'), after.split('\n'))
  const isShown = (index: number): boolean =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(([sign]) => sign !== ' ')
  return lines.flatMap((line, index) => {
    if (!isShown(index)) return []
    const gap = index > 0 && !isShown(index - 1) ? ['  …'] : []
    return [...gap, line.trimEnd()]
  })
}

/** After a difference, continues at the next old line that is also a later new line. */
function compare(before: readonly string[], after: readonly string[]): string[] {
  const lines: string[] = []
  let next = 0
  for (const line of before) {
    const place = after.indexOf(line, next)
    if (place < 0) lines.push(`- ${line}`)
    else {
      lines.push(...after.slice(next, place).map((added) => `+ ${added}`), `  ${line}`)
      next = place + 1
    }
  }
  return [...lines, ...after.slice(next).map((added) => `+ ${added}`)]
}
