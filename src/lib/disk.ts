import { constants } from 'node:fs'
import { access, rename } from 'node:fs/promises'
import { constants as system } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { AppError, messageOf, UsageError } from './errors.ts'
import { codeOf, isMissing, removeFile, syncFolder, temporaryPath, writeAtomic } from './files.ts'

/**
 * Writes, syncs, renames and removes a small file, as every landing does.
 *
 * @throws Error of the step that the folder's filesystem refuses.
 */
export async function probeFolder(folder: string): Promise<void> {
  const probe = temporaryPath(join(folder, 'probe')) // a later run removes it after a crash
  const renamed = temporaryPath(join(folder, 'probe'))
  try {
    await writeAtomic(probe, 'May be deleted.\n')
    await rename(probe, renamed)
    await syncFolder(folder)
  } finally {
    await removeFile(probe)
    await removeFile(renamed)
  }
}

/** The folder, or the nearest existing one above it. @throws Error if it is not writable. */
export async function writableAncestor(folder: string): Promise<string> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
    return folder
  } catch (error) {
    if (!isMissing(error) || dirname(folder) === folder) throw error
    return writableAncestor(dirname(folder))
  }
}

/**
 * Call this before files are made at a path that a person has named.
 *
 * @throws UsageError for a path with `~`: a shell has not replaced it by the home folder.
 */
export function refuseTilde(path: string, what: string): void {
  if (!path.split(sep).includes('~')) return
  throw new UsageError(`${what} ${path} has '~' in its path, which is no home folder`, {
    hint: 'Write the whole path: no shell replaces ~ in a file, or after = in --data=~.',
  })
}

/** Node.js has no name for a full quota. */
const QUOTA = `Unknown system error -${system.errno.EDQUOT}`

const FAULTS = [
  { code: 'ENOSPC', words: /no space left on device/i, what: 'no space left on the disk' },
  { code: QUOTA, words: /disk quota exceeded/i, what: 'no space left in the disk quota' },
  {
    code: 'EFBIG',
    words: /file too large/i,
    what: 'no space left: the file has reached its size limit',
  },
  { code: 'EROFS', words: /read-only file ?system/i, what: 'the disk is read-only' },
] as const

/**
 * Turns a disk fault into an expected failure; undefined for any other error. The fault
 * is recognised by the system's code or, within a message of DuckDB, by its text.
 */
export function diskFault(error: unknown): AppError | undefined {
  if (!(error instanceof Error)) return undefined
  const code = codeOf(error)
  const fault = FAULTS.find((each) => each.code === code || each.words.test(error.message))
  if (fault === undefined) return diskFault(error.cause)
  if (error instanceof AppError && error.message.startsWith(fault.what)) return error
  const inodes = fault.code === 'ENOSPC' ? ' If space is free, inodes are used up (df -i).' : ''
  return new AppError(`${fault.what}: ${messageOf(error)}`, {
    hint: `Fix that and run again: what has landed is kept, and what was published is unchanged.${inodes}`,
    cause: error,
  })
}

/**
 * A disk fault, a refused access, a wrong path, too many open files or a package that cannot be
 * loaded as an expected failure; any other error as it is.
 */
export function explainedFault(error: unknown): unknown {
  return diskFault(error) ?? pathFault(error) ?? machineFault(error) ?? error
}

const MACHINE_FAULTS = [
  {
    codes: ['EMFILE', 'ENFILE'],
    words: /too many open files/i,
    what: 'too many open files',
    hint: 'Raise the limit (`ulimit -n 1024`, or LimitNOFILE of the systemd service) and run again: what has landed is kept.',
  },
  {
    codes: ['ENOMEM'],
    words: undefined,
    what: 'the machine has too little memory',
    hint: 'Free some and run again: what has landed is kept.',
  },
  {
    codes: ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'],
    words: undefined,
    what: 'the packages are not complete',
    hint: 'Install them again on this machine, with the Node.js that runs them: `npm ci`.',
  },
] as const

function machineFault(error: unknown): AppError | undefined {
  if (!(error instanceof Error) || error instanceof AppError) return undefined
  const code = codeOf(error)
  const [first = ''] = error.message.split('\n') // below it are the files that load the package
  const fault = MACHINE_FAULTS.find(
    ({ codes, words }) => codes.some((each) => each === code) || words?.test(first),
  )
  if (fault === undefined) return undefined
  return new AppError(`${fault.what}: ${first}`, { hint: fault.hint, cause: error })
}

/** A refused port or connection is none: only errors of files have a path. */
function pathFault(error: unknown): UsageError | undefined {
  if (!(error instanceof Error) || error instanceof AppError || !('path' in error)) return undefined
  const code = codeOf(error)
  const isNoPath = code === 'ENOTDIR' || code === 'ENAMETOOLONG'
  const isMakingFolder = 'syscall' in error && error.syscall === 'mkdir'
  if (isNoPath || (isMakingFolder && (code === 'ENOENT' || code === 'EEXIST'))) {
    return new UsageError(`a folder of the path cannot be used: ${error.message}`, {
      hint: 'Move away a file that is in the place of a folder, or name a path whose folders exist or can be made.',
      cause: error,
    })
  }
  if (code !== 'EACCES' && code !== 'EPERM') return undefined
  return new UsageError(`this user may not access a file: ${error.message}`, {
    hint: 'Fix its permissions, run as its owner, or name another path. AGENT_WAREHOUSE_UMASK=027 lets the group read what runs write.',
    cause: error,
  })
}
