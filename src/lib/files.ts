import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fsync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  statSync,
  type Dirent,
} from 'node:fs'
import {
  chmod,
  copyFile,
  link,
  readdir,
  readFile,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { UsageError } from './errors.ts'
import { confirmLease } from './fence.ts'

/** DuckDB prefixes `tmp_` to the name of a file that it overwrites. */
const TEMPORARY = /^(?:tmp_)?\.[0-9a-f]{8}-(?<name>.+)\.part(?:\.wal)?$/

/**
 * A temporary path in the same folder, to write before `commitFile`. The ending keeps
 * it out of globs like `*.parquet`: DuckDB's take files with a leading dot too.
 */
export function temporaryPath(path: string): string {
  return join(dirname(path), `.${randomUUID().slice(0, 8)}-${basename(path)}.part`)
}

/** The name of the file that a temporary file will become; undefined for any other file. */
export function nameOfTemporary(name: string): string | undefined {
  return TEMPORARY.exec(name)?.groups?.['name']
}

/** Removes the temporary files of one file that processes left which were killed or too late. */
export async function removeTemporariesOf(path: string): Promise<void> {
  for (const { name } of await listIfThere(dirname(path))) {
    if (nameOfTemporary(name) === basename(path)) await removeFile(join(dirname(path), name))
  }
}

/**
 * Removes temporary files that a crash left, in the folder and below it. The caller holds
 * the lock, because another process may be writing its temporary files.
 */
export async function removeTemporaryFiles(folder: string): Promise<number> {
  let removed = 0
  for (const entry of await listIfReadable(folder)) {
    const path = join(folder, entry.name)
    if (nameOfTemporary(entry.name) !== undefined) {
      await rm(path, { recursive: true, force: true })
      removed += 1
    } else if (entry.isDirectory()) removed += await removeTemporaryFiles(path)
  }
  return removed
}

/** How to open a file to sync it: it may be read-only. */
const SYNCABLE = process.platform === 'win32' ? 'r+' : 'r'

// Files are opened, closed and renamed synchronously, because handing these calls to another thread
// takes longer than the calls; another thread only waits for the disk.
const waitForDisk = promisify(fsync)

export async function syncFile(path: string): Promise<void> {
  const file = openSync(path, SYNCABLE)
  try {
    await waitForDisk(file)
  } finally {
    closeSync(file)
  }
}

/** Makes a rename in the folder durable. Windows cannot sync folders, and need not. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform !== 'win32') await syncFile(path)
}

/**
 * Commits a temporary file: sync, rename into place, sync the folder. Atomic for readers.
 *
 * @throws LockedError if the lease on its folder was lost, UsageError if `path` is a folder.
 */
export async function commitFile(temporary: string, path: string): Promise<void> {
  await syncFile(temporary)
  await putInPlace(temporary, path)
}

/** Commits a temporary file that is synced already. */
export async function putInPlace(temporary: string, path: string): Promise<void> {
  confirmLease(path)
  try {
    renameSync(temporary, path)
  } catch (error) {
    unlessFolder(path, error)
  }
  await syncFolder(dirname(path))
}

/** Removes everyone's write permission. */
export async function makeReadOnly(path: string): Promise<void> {
  await chmod(path, (await stat(path)).mode & 0o555)
}

export async function makeWritable(path: string): Promise<void> {
  await chmod(path, (await stat(path)).mode | 0o200)
}

/**
 * Makes a folder and those above it durably, one by one: the recursion of Node may never end where
 * the system refuses (under /proc), and says ENOENT if the disk is read-only.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    if (isFolder(path)) return // another process made it meanwhile
    throw brokenLink(path, error) ?? error
  }
  syncName(path)
}

/** Makes the name of a new folder durable, as far as this user may open the folder above it. */
function syncName(path: string): void {
  try {
    const folder = openSync(dirname(path), SYNCABLE)
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch {
    // what is synced in the folder later reports a fault of the disk
  }
}

/** The error for a link to nothing, for which the system says only that there is a file. */
function brokenLink(path: string, cause: unknown): Error | undefined {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  if (!isLink || existsSync(path)) return undefined
  const message = `${path} is a link to ${readlinkSync(path)}, which does not exist`
  return Object.assign(new Error(message, { cause }), { code: 'EEXIST', syscall: 'mkdir', path })
}

/** Whether there is a folder, or a link to one. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Calls `work` with a temporary path for the file. Makes its folder, and leaves no temporary file. */
export async function withTemporary<T>(
  path: string,
  work: (temporary: string) => Promise<T>,
): Promise<T> {
  makeFolder(dirname(path))
  const temporary = temporaryPath(path)
  try {
    return await work(temporary)
  } finally {
    // Also after a commit, as a rename onto a link of the same file does nothing. An error here would
    // hide that of the work; what stays in the data folder, the next run removes.
    await removeFile(temporary).catch(() => undefined)
  }
}

/** Writes a whole file so that readers see the old one or the new one, never a part. */
export async function writeAtomic(path: string, content: string | Uint8Array): Promise<void> {
  await withTemporary(path, async (temporary) => {
    await writeFile(temporary, content, NEW_AND_SYNCED)
    await putInPlace(temporary, path)
  })
}

/** The same without syncing: a power cut may damage the file. For files whose loss costs little. */
export async function writeUnsynced(path: string, content: string | Uint8Array): Promise<void> {
  await withTemporary(path, async (temporary) => {
    await writeFile(temporary, content)
    confirmLease(path)
    renameSync(temporary, path)
  })
}

/**
 * Makes a file that never exists without its whole content. False if the file exists, or
 * if the process that made it has removed the temporary file of this call.
 */
export async function createWhole(path: string, content: string, mode = 0o666): Promise<boolean> {
  return withTemporary(path, async (temporary) => {
    await writeFile(temporary, content, { ...NEW_AND_SYNCED, mode })
    const isMade = await linkOrCopy(temporary, path).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST' || isMissing(error)) return false
        throw error
      },
    )
    if (isMade) await syncFolder(dirname(path))
    return isMade
  })
}

const NEW_AND_SYNCED = { flag: 'wx', flush: true }

/** Gives a file a second name; copies it where the file system cannot link it. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch((error: unknown) => {
    if (['ENOENT', 'EEXIST'].includes(codeOf(error) ?? '')) throw error
    return copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  })
}

/** Removes a file if it exists. Takes a fifth of the time of `rm`, which also handles folders. */
export async function removeFile(path: string): Promise<void> {
  await orIfMissing(unlink(path), undefined)
}

/**
 * The text of a file, or undefined if there is none.
 *
 * @throws UsageError if the path is a folder.
 */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    return unlessFolder(path, error)
  }
}

/** Rethrows an error; for a folder in place of the file, one that names it, because the system's does not. */
export function unlessFolder(path: string, error: unknown): never {
  if (codeOf(error) !== 'EISDIR') throw error
  throw new UsageError(`${path} is a folder, but must be a file`, {
    hint: 'Move it away, then run again: the file will be created again.',
    cause: error,
  })
}

/**
 * The value in a JSON file; undefined if there is no file, or, with a warning, if it cannot
 * be parsed. For files that are written again if they are missing.
 */
export async function readJson(path: string, warn: (message: string) => void): Promise<unknown> {
  const text = await readIfThere(path)
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    warn(`${path} cannot be read and is written again: ${error.message}`)
    return undefined
  }
}

/** The entries of a folder; none if it does not exist. */
export async function listIfThere(path: string): Promise<Dirent[]> {
  return orIfMissing(readdir(path, { withFileTypes: true }), [])
}

/** The same; none of a folder that this user may not read, such as `lost+found`. */
export async function listIfReadable(path: string): Promise<Dirent[]> {
  return orIfDenied(listIfThere(path), [])
}

/** The names of the files in a folder that have this ending, without hidden ones, sorted. */
export async function namesEnding(folder: string, ending: string): Promise<string[]> {
  const files = (await listIfThere(folder)).filter((entry) => entry.isFile())
  const names = files.map(({ name }) => name)
  return names.filter((name) => name.endsWith(ending) && !name.startsWith('.')).sort()
}

/** The result of work on a file, or `otherwise` if the file does not exist. */
export async function orIfMissing<T, U>(work: Promise<T>, otherwise: U): Promise<T | U> {
  return work.catch((error: unknown) => {
    if (isMissing(error)) return otherwise
    throw error
  })
}

/** The result of work on a file, or `otherwise` if this user may not do it. */
export async function orIfDenied<T, U>(work: Promise<T>, otherwise: U): Promise<T | U> {
  return work.catch((error: unknown) => {
    if (['EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return otherwise
    throw error
  })
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT'
}

/** The system's code of an error, e.g. `ENOSPC`. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** SHA-256 of a file's bytes, hex. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await readPieces(path, (piece) => hash.update(piece))
  return hash.digest('hex')
}

/** Identifies a file's bytes. */
export interface FileSums {
  /** Hex. */
  readonly sha256: string
  /** Takes an eighth of the time of the SHA-256. */
  readonly crc32: number
}

export async function syncedSums(path: string): Promise<FileSums> {
  const hash = createHash('sha256')
  let sum = 0
  const take = (piece: Buffer): void => {
    hash.update(piece)
    sum = crc32(piece, sum)
  }
  await readPieces(path, take, waitForDisk)
  return { sha256: hash.digest('hex'), crc32: sum }
}

export async function crc32OfFile(path: string): Promise<number> {
  let sum = 0
  await readPieces(path, (piece) => (sum = crc32(piece, sum)))
  return sum
}

/** A piece is valid until the next one is read; in between, other work may run. */
async function readPieces(
  path: string,
  take: (piece: Buffer) => void,
  end?: (file: number) => Promise<void>,
): Promise<void> {
  const file = openSync(path, SYNCABLE)
  const bytes = spare.pop() ?? Buffer.allocUnsafe(READ_BYTES)
  try {
    for (;;) {
      const bytesRead = readSync(file, bytes, 0, READ_BYTES, null)
      if (bytesRead === 0) break
      take(bytes.subarray(0, bytesRead))
      if (bytesRead === READ_BYTES) await setImmediate()
    }
    await end?.(file)
  } finally {
    spare.push(bytes)
    closeSync(file)
  }
}

const READ_BYTES = 256 * 1024

/** Buffers to use again, as many as files were ever read at once. */
const spare: Buffer[] = []

/**
 * Encodes any text as one path segment: letters, digits, `_` and `-` stay, the rest is
 * percent-encoded. The empty text is `~`, which no other segment contains and which sorts last.
 */
export function pathSegment(text: string): string {
  if (/^[\w-]+$/.test(text)) return text
  const encoded = encodeURIComponent(Buffer.from(text).toString()).replaceAll(
    /[.!~*'()]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return encoded === '' ? '~' : encoded
}

/** The text of a path segment; undefined for a name that `pathSegment` does not make. */
export function fromPathSegment(segment: string): string | undefined {
  try {
    const text = segment === '~' ? '' : decodeURIComponent(segment)
    return pathSegment(text) === segment ? text : undefined
  } catch {
    return undefined // a `%` without two digits
  }
}
