import { constants } from 'node:fs'
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  stat,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../lib/errors.ts'
import {
  temporaryPath,
  isMissing,
  readIfThere,
  removeFile,
  syncFile,
  syncFolder,
  readJson,
  writeAtomic,
} from '../lib/files.ts'
import { JsonSyntaxError } from './json-edit.ts'
import type { HookFolders } from './record.ts'

/** A settings file as it was read. */
export interface SettingsFile {
  /** Where it is, links followed. */
  readonly path: string
  /** Undefined: there is none. */
  readonly text: string | undefined
}

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
 * Puts the text in the file's place: a copy of what was there first, then a temporary
 * file, synced and renamed, with the permissions the file had.
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
    await writeFile(temporary, text, { flag: 'wx', mode })
    await chmod(temporary, mode) // whatever the umask
    await syncFile(temporary)
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

const installedSchema = z.record(z.string(), z.object({ created: z.array(z.string()) }))

/**
 * What `install` made in a settings file besides its commands, so that `uninstall`
 * takes that away and leaves what the file had before; null when nothing is known of it.
 */
export async function createdIn(
  { installed }: HookFolders,
  settings: string,
): Promise<readonly string[] | null> {
  return (await readInstalled(installed))[settings]?.created ?? null
}

/** Adds to what is known of the settings file; null forgets it. */
export async function noteCreated(
  { installed }: HookFolders,
  settings: string,
  created: readonly string[] | null,
): Promise<void> {
  const { [settings]: before, ...others } = await readInstalled(installed)
  const all = [...new Set([...(before?.created ?? []), ...(created ?? [])])]
  const next = created === null ? others : { ...others, [settings]: { created: all } }
  await writeAtomic(installed, `${JSON.stringify(next, null, 2)}\n`)
}

async function readInstalled(path: string): Promise<z.infer<typeof installedSchema>> {
  return installedSchema.safeParse(await readJson(path, () => undefined)).data ?? {}
}

const CONTEXT = 2

/** What changes between two texts, line by line: `-` goes, `+` comes; empty where nothing does. */
export function diffLines(before: string, after: string): string[] {
  if (before === after) return []
  const lines = compare(before.split('\n'), after.split('\n'))
  const isShown = (index: number): boolean =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(([sign]) => sign !== ' ')
  return lines.flatMap((line, index) => {
    if (!isShown(index)) return []
    const gap = index > 0 && !isShown(index - 1) ? ['  …'] : []
    return [...gap, line.trimEnd()]
  })
}

/** By the longest common subsequence of what is not the same at both ends. */
function compare(before: readonly string[], after: readonly string[]): string[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const same = (text: string): string => `  ${text}`
  return [
    ...before.slice(0, head).map(same),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ]
}

function middle(before: readonly string[], after: readonly string[]): string[] {
  /** How many lines the rests from `i` and `j` on have in common. */
  const common = [...before, ''].map(() => new Uint32Array(after.length + 1))
  const commonAt = (i: number, j: number): number => common[i]?.[j] ?? -1
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const most = Math.max(commonAt(i + 1, j), commonAt(i, j + 1))
      common[i]?.fill(before[i] === after[j] ? 1 + commonAt(i + 1, j + 1) : most, j, j + 1)
    }
  }
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [left, right] = [before[i], after[j]]
    if (left !== undefined && left === right) {
      lines.push(`  ${left}`)
      i += 1
      j += 1
    } else if (left !== undefined && commonAt(i + 1, j) >= commonAt(i, j + 1)) {
      lines.push(`- ${left}`)
      i += 1
    } else {
      lines.push(`+ ${right ?? ''}`)
      j += 1
    }
  }
  return lines
}
