import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { Database } from '../lib/duckdb.ts'
import { messageOf } from '../lib/errors.ts'
import { spillFolder } from '../lib/spill.ts'
import type { Documented } from './documented.ts'
import { readDocumented } from './drift.ts'
import { LIMITS } from './plan.ts'
import { MACROS } from './batch.ts'

/** A connection, the folder for intermediate files, and the documented fields. */
export interface Worker {
  readonly database: Database
  readonly folder: string
  readonly documented: ReadonlyMap<string, Documented>
}

/**
 * The database that base is made in, for one organisation after another: opened on first use,
 * with a few connections, each of which is prepared once. To be disposed of.
 */
export class BaseEngine implements AsyncDisposable {
  readonly #folder: string
  #first: Promise<Database> | undefined
  readonly #workers: Worker[] = []
  readonly #idle: Worker[] = []
  readonly #queue = new PQueue({ concurrency: LIMITS.workers })
  readonly #roomy = new PQueue({ concurrency: 1 })

  constructor(dataFolder: string) {
    this.#folder = join(spillFolder(dataFolder), 'base')
  }

  /** Runs `work` on a connection that nothing else uses; waits until there is one. */
  use<T>(work: (worker: Worker) => Promise<T>): Promise<T> {
    return this.#queue.add(async () => {
      const worker = this.#idle.pop() ?? (await this.#connect())
      try {
        return await work(worker)
      } finally {
        this.#idle.push(worker)
      }
    })
  }

  /** The same, repeated with memory for huge rows if there is too little. One at a time. */
  useWithRoom<T>(work: (worker: Worker) => Promise<T>): Promise<T> {
    return this.#roomy.add(() =>
      this.use(async (worker) => {
        try {
          return await work(worker)
        } catch (error) {
          if (!/out of memory/i.test(messageOf(error))) throw error
          const limitTo = (memory: string): Promise<void> =>
            worker.database.run(`set memory_limit = '${memory}'`)
          await limitTo(LIMITS.memoryForHugeRows)
          try {
            return await work(worker)
          } finally {
            await limitTo(LIMITS.memory)
          }
        }
      }),
    )
  }

  async #connect(): Promise<Worker> {
    const isFirst = this.#first === undefined
    this.#first ??= this.#open().catch((error: unknown) => {
      this.#first = undefined // the next one tries again
      throw error
    })
    const first = await this.#first
    const database = isFirst ? first : await first.another()
    await database.run(MACROS)
    const folder = this.#folder
    const worker = { database, folder, documented: await readDocumented(database) }
    this.#workers.push(worker)
    return worker
  }

  async #open(): Promise<Database> {
    await mkdir(this.#folder, { recursive: true })
    return Database.open(':memory:', {
      memoryLimit: LIMITS.memory,
      threads: 1,
      isLowMemory: true,
      tempDirectory: this.#folder,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#queue.onIdle()
    const first = await this.#first
    for (const { database } of this.#workers) if (database !== first) database.close()
    first?.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
