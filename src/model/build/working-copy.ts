import { constants } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { makeWritable, removeFile, sha256OfFile, temporaryPath } from '../../lib/files.ts'

export interface CopiedFile {
  readonly path: string
  readonly sha256: string
}

/**
 * Copies the file that a build continues from, next to the published one, and computes the digest
 * of the copy: the build continues from exactly the verified bytes. A program that has the file
 * open can neither change the copy nor prevent reading it.
 *
 * @throws the system's error if the copy fails.
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
