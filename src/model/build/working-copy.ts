import { constants } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { temporaryPath, makeWritable, removeFile, sha256OfFile } from '../../lib/files.ts'

/** A copy, and its digest: the build continues exactly the bytes that were verified. */
export interface CopiedFile {
  readonly path: string
  readonly sha256: string
}

/**
 * Copies the file that a build continues, next to the one to be published. A program that has
 * the file open can neither change the copy nor prevent reading it.
 *
 * @throws the system's error where it could not be made.
 */
export async function makeWorkingCopy(from: string, target: string): Promise<CopiedFile> {
  const path = temporaryPath(target)
  try {
    await copyFile(from, path, constants.COPYFILE_FICLONE)
    await makeWritable(path)
    return { path, sha256: await sha256OfFile(path) }
  } catch (error) {
    await removeFile(path)
    throw error
  }
}
