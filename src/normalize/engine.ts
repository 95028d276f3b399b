import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { ConnectionPool } from '../lib/connection-pool.ts'
import { Database } from '../lib/duckdb.ts'
import { messageOf } from '../lib/errors.ts'
import { processLimits } from '../lib/machine.ts'
import { spillFolder } from '../lib/spill.ts'
import { MACROS } from './batch.ts'
import { readDocumented, type Documented } from './documented.ts'

/** A connection, the folder for intermediate files, and the documented fields. */
export interface Worker {
  readonly database: Database
  readonly folder: string
  readonly documented: ReadonlyMap<string, Documented>
}

/** The database in which base is made, for one organisation after another. Dispose of it. */
export class BaseEngine extends ConnectionPool<Worker> {
  readonly #folder: string
  readonly #roomy = new PQueue({ concurrency: 1 })

  constructor(dataFolder: string) {
    const folder = join(spillFolder(dataFolder), 'base')
    const { concurrency, memoryLimit } = processLimits().base
    super({
      concurrency,
      open: async () => {
        await mkdir(folder, { recursive: true })
        return Database.open(':memory:', {
          memoryLimit,
          threads: 1,
          freed: 'early',
          tempDirectory: folder,
        })
      },
      prepare: async (database) => {
        await database.run(MACROS)
        return { database, folder, documented: await readDocumented(database) }
      },
    })
    this.#folder = folder
  }

  /** The same as `use`, repeated with memory for huge rows if there is too little. One at a time. */
  useWithRoom<T>(work: (worker: Worker) => Promise<T>): Promise<T> {
    return this.#roomy.add(() =>
      this.use(async (worker) => {
        try {
          return await work(worker)
        } catch (error) {
          if (!/out of memory/i.test(messageOf(error))) throw error
          const { memoryLimit, memoryForHugeRows } = processLimits().base
          const limitTo = (memory: string): Promise<void> =>
            worker.database.run(`set memory_limit = '${memory}'`)
          await limitTo(memoryForHugeRows)
          const result = await work(worker).catch(async (failure: unknown) => {
            await limitTo(memoryLimit).catch(() => undefined) // `failure` is reported
            throw failure
          })
          await limitTo(memoryLimit)
          return result
        }
      }),
    )
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
