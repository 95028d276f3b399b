import { constants } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import { asidePath } from '../store/files.ts'

/**
 * A copy of a file that is built upon, aside of the one that is to be published. It
 * may be begun while something else is done. The caller holds the lock of the data folder.
 */
export class Copy implements AsyncDisposable {
  readonly path: string
  readonly #from: string
  #copying: Promise<void> | undefined
  #isTaken = false

  constructor(from: string, target: string) {
    this.#from = from
    this.path = asidePath(target)
  }

  /** What is wrong is told to who takes it. */
  begin(): void {
    this.#copying ??= copyFile(this.#from, this.path, constants.COPYFILE_FICLONE)
    this.#copying.catch(() => undefined)
  }

  /** The copy belongs to the caller now. @throws the system's error where it could not be made. */
  async take(): Promise<string> {
    this.begin()
    await this.#copying
    this.#isTaken = true
    return this.path
  }

  /** Removes what nobody took. */
  async discard(): Promise<void> {
    if (this.#copying === undefined || this.#isTaken) return
    await this.#copying.catch(() => undefined) // nobody waits for it
    await rm(this.path, { force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.discard()
  }
}
