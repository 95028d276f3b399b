import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { AppError, messageOf } from '../lib/errors.ts'
import { confirmLease } from '../lib/fence.ts'
import {
  codeOf,
  commitFile,
  isMissing,
  removeFile,
  syncFile,
  syncFolder,
  temporaryPath,
  withTemporary,
} from '../lib/files.ts'
import { quarantineFolder, versionPath, type RawFile } from './layout.ts'
import { versionsIn, type RawDay } from './raw-days.ts'
import { intervalKey, type Interval, type JournalState } from './ledger.ts'
import {
  manifestOf,
  mergedIn,
  mergedPlace,
  monthFolder,
  sha256OfMerged,
  sha256OfVersion,
  writeManifest,
  type MergedPlace,
} from './merged.ts'

/** A damaged file of the lake, and why; `isGone` if it does not exist. */
export interface DamagedFile extends RawFile {
  readonly reason: string
  readonly isGone: boolean
  /** Whether the file is not a version of this day. */
  readonly isStray?: boolean
}

/** Errors of the machine or its settings, not of the file. */
const MACHINE_ERRORS = new Set(['EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOMEM'])

/** The result of reading a whole file: its SHA-256, or why there is none. */
interface Reading {
  readonly sha256?: string
  readonly reason?: string
  readonly isGone?: boolean
}

/** Reads a whole file. @throws the error of a system that does not allow it. */
export async function readThrough(path: string): Promise<Reading> {
  try {
    return { sha256: await sha256OfVersion(path) }
  } catch (error) {
    if (isMissing(error)) return { reason: 'it does not exist', isGone: true }
    if (MACHINE_ERRORS.has(codeOf(error) ?? '')) throw error
    return { reason: messageOf(error) }
  }
}

export function intervalsWithoutFile(
  intervals: Iterable<Interval>,
  inLake: readonly RawDay[],
): Interval[] {
  const versionsOf = new Map(
    inLake.map(({ resource, day, versions }) => [intervalKey(resource, day), versions]),
  )
  return [...intervals].filter(
    ({ resource, day, file }) =>
      file !== null && versionsOf.get(intervalKey(resource, day))?.includes(file) !== true,
  )
}

/**
 * The intervals with fewer versions, in the lake or in quarantine, than were recorded, although the
 * current one is there.
 */
export function intervalsWithoutHistory(
  { dataFolder, orgId, intervals }: JournalState,
  inLake: readonly RawDay[],
): Interval[] {
  return inLake.flatMap(({ resource, day, versions }) => {
    const known = intervals.get(intervalKey(resource, day))
    if (known?.file == null || !versions.includes(known.file)) return []
    if (versions.length >= known.versions) return []
    const inQuarantine = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
    const existing = new Set([...versions, ...inQuarantine])
    return existing.size < known.versions ? [{ ...known, versions: versions.length }] : []
  })
}

/**
 * Moves a damaged version from the lake to the same path below `<data>/quarantine`. Nothing
 * there is overwritten or deleted. A file that is not a version of the day gets another
 * ending.
 *
 * @returns the damage and the action, as the start of a message.
 * @throws AppError if the file cannot be moved.
 */
export async function quarantine(
  dataFolder: string,
  orgId: string,
  damaged: DamagedFile,
): Promise<string> {
  const { resource, day, file, reason, isGone, isStray = false } = damaged
  const what = `${resource} ${day} of ${orgId}: ${file}: ${reason}`
  if (isGone) return what
  const from = versionPath(dataFolder, orgId, damaged)
  const to = join(quarantineFolder(dataFolder, orgId, resource, day), file)
  const place = mergedPlace(from)
  if (place !== undefined) {
    const { copy, isNew } = await takeOut(place, monthFolder(dirname(to)))
    return isNew
      ? `${what}; the merged file with it was copied to ${relative(dataFolder, copy)}`
      : `${what}; the copy of its merged file in quarantine has it, too`
  }
  const path = await moveAside(from, isStray ? `${to}.stray` : to)
  return `${what}; moved to ${relative(dataFolder, path)}`
}

/**
 * Removes a damaged version from the manifest of a merged file; the other versions stay, and the
 * manifest keeps the checksum of the undamaged file, so that their rows are verified too. Puts a
 * copy of the file, with a manifest of the damaged versions, into another folder.
 *
 * @returns the path of the copy, and whether it is the first.
 */
async function takeOut({ merged, version }: MergedPlace, folder: string) {
  const copy = join(folder, basename(merged.path))
  const sha256 = await sha256OfMerged(merged.path).catch(() => merged.sha256)
  const before = mergedIn(folder).find(({ path }) => path === copy)?.versions ?? []
  const isNew = !existsSync(copy)
  if (isNew) {
    await withTemporary(copy, async (temporary) => {
      await copyFile(merged.path, temporary)
      await commitFile(temporary, copy)
    })
  }
  await writeManifest(copy, { sha256, versions: [...before, version], replaces: [] })
  const versions = merged.versions.filter((each) => each !== version)
  if (versions.length > 0) await writeManifest(merged.path, { ...merged, versions })
  else {
    await removeFile(merged.path)
    await removeFile(manifestOf(merged.path))
  }
  return { copy, isNew }
}

/** Moves a base folder without a ledger to quarantine. Returns its path relative to the data folder. */
export async function quarantineBase(dataFolder: string, folder: string): Promise<string> {
  const to = join(dataFolder, 'quarantine', relative('lake', folder))
  return relative(dataFolder, await moveAside(join(dataFolder, folder), to))
}

/**
 * Moves a file durably, or a folder, to `to`, or to a free name if that exists.
 *
 * @returns the new path.
 * @throws AppError if it cannot be moved.
 */
export async function moveAside(from: string, to: string): Promise<string> {
  await mkdir(dirname(to), { recursive: true })
  let path = to
  for (let count = 2; existsSync(path); count += 1) path = `${to}.${count}`
  confirmLease(path)
  await moved(from, path).catch((error: unknown) => {
    throw new AppError(`${from} cannot be moved to ${path}: ${messageOf(error)}`, {
      hint: 'Move it away manually, then run again.',
      cause: error,
    })
  })
  await syncFolder(dirname(path))
  await syncFolder(dirname(from))
  return path
}

/** Renames a file or a folder, or copies it to another file system. */
async function moved(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error
    const temporary = temporaryPath(to)
    try {
      await cp(from, temporary, { recursive: true, preserveTimestamps: true })
      if ((await stat(temporary)).isFile()) await syncFile(temporary)
      confirmLease(to)
      await rename(temporary, to)
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
    await rm(from, { recursive: true })
  }
}

export async function quarantined(dataFolder: string): Promise<number> {
  const folder = join(dataFolder, 'quarantine')
  if (!existsSync(folder)) return 0
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.json')).length
}
