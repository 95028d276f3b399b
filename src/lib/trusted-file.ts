import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs'
import { dirname } from 'node:path'
import { messageOf, UsageError } from './errors.ts'
import { isMissing } from './files.ts'

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
const STICKY = 0o1000

/** Who reads a file. */
export interface Reader {
  readonly uid: number
}

/**
 * The text of a file that decides where keys are sent and what is run; undefined
 * where there is none.
 *
 * @throws UsageError when other users can write or replace it, or it cannot be read.
 */
export function readTrusted(path: string, what: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const status = fstatSync(file)
    if (status.isDirectory()) throw new UsageError(`${what} ${path} is a folder, not a file`)
    const uid = process.getuid?.()
    const problem = uid === undefined ? undefined : distrustOf(status, path, { uid })
    if (problem !== undefined) {
      throw new UsageError(`${what} ${path} ${problem.why}`, { hint: problem.fix })
    }
    if (uid !== undefined) refuseReplaceable(path, what, { uid })
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    if (isMissing(cause) || isBelowFile(cause)) return undefined
    throw new UsageError(`${what} ${path} cannot be read: ${messageOf(cause)}`, { cause })
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Who can write in the folder of a file can put another in its place, and who can
 * write above it another folder; where the sticky bit is set, its owner alone can.
 * Groups are asked about at the folder itself: above it they are the system's.
 *
 * @throws UsageError when other users can.
 */
function refuseReplaceable(path: string, what: string, reader: Reader): void {
  const own = dirname(realpathSync(path))
  for (let folder = own; ; folder = dirname(folder)) {
    const { uid, gid, mode: all } = statSync(folder)
    const mode = (all & STICKY) === 0 ? all : all & ~(GROUP_WRITES | OTHERS_WRITE)
    const above = { ...reader, gid: reader.uid, mode: mode & OTHERS_WRITE }
    const problem = distrustOf(folder === own ? { uid, gid, mode } : above, folder, reader)
    if (problem !== undefined) {
      const why = `is in the folder ${folder}, which ${problem.why}`
      throw new UsageError(`${what} ${path} ${why}`, { hint: problem.fix })
    }
    if (dirname(folder) === folder) return
  }
}

/** A part of the path that is to be a folder is a file. */
function isBelowFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOTDIR'
}

/**
 * Why a file is not to be trusted: another user owns it or can write it. A group
 * may write where it is the owner's private one, which has the owner's number.
 */
export function distrustOf(
  { uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  path: string,
  reader: Reader,
): { readonly why: string; readonly fix: string } | undefined {
  if (uid !== 0 && uid !== reader.uid) {
    return {
      why: `is owned by another user (uid ${uid}), who can change it`,
      fix: `Look at what it says, then: chown ${reader.uid} ${path}`,
    }
  }
  const isShared = (mode & GROUP_WRITES) !== 0 && gid !== uid
  if (!isShared && (mode & OTHERS_WRITE) === 0) return undefined
  const who = (mode & OTHERS_WRITE) === 0 ? 'its group' : 'every user of this machine'
  return { why: `can be changed by ${who}`, fix: `chmod go-w ${path}` }
}
