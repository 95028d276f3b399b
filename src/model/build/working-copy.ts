import { constants } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { temporaryPath, makeWritable, removeFile, sha256OfFile } from '../../lib/files.ts'

/** A copy, and its digest: the build continues exactly the bytes that were verified. */
export interface CopiedFile {
  readonly path: string
  readonly sha256: string
}

/**
 * A copy of the file that a build continues, next to the one to be published. Copying may start
 * while other work is done. A program that has the file open can neither change the copy nor
 * prevent reading it. The caller holds the lock of the data folder.
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

  /** Starts copying. `take` throws the error if that fails. */
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
