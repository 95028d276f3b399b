import { constants } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { temporaryPath, makeWritable, removeFile, sha256OfFile } from '../../lib/files.ts'

/** A copy, and the digest of its bytes: what is verified is what is continued from. */
export interface CopiedFile {
  readonly path: string
  readonly sha256: string
}

/**
 * A copy of the file that a build continues from, next to the one that is to be published.
 * It may be begun while something else is done. No program that has the file open can
 * change the copy, or keep it from being read. The caller holds the lock of the data folder.
 */
export class WorkingCopy implements AsyncDisposable {
  readonly path: string
  readonly #from: string
  #copying: Promise<CopiedFile> | undefined
  #isTaken = false

  constructor(from: string, target: string) {
    this.#from = from
    this.path = temporaryPath(target)
  }

  /** An error reaches the caller of `take`. */
  begin(): void {
    this.#copying ??= this.#copy()
    this.#copying.catch(() => undefined)
  }

  /** The copy belongs to the caller now. @throws the system's error where it could not be made. */
  async take(): Promise<CopiedFile> {
    this.#copying ??= this.#copy()
    const copied = await this.#copying
    this.#isTaken = true
    return copied
  }

  /** Removes a copy that was not taken. */
  async discard(): Promise<void> {
    if (this.#copying === undefined || this.#isTaken) return
    await this.#copying.catch(() => undefined) // it is not awaited elsewhere
    await removeFile(this.path)
  }

  async #copy(): Promise<CopiedFile> {
    try {
      await copyFile(this.#from, this.path, constants.COPYFILE_FICLONE)
      await makeWritable(this.path)
      return { path: this.path, sha256: await sha256OfFile(this.path) }
    } catch (error) {
      await removeFile(this.path)
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.discard()
  }
}
