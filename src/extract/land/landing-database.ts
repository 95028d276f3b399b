import PQueue from 'p-queue'
import { Database } from '../../lib/duckdb.ts'
import { processLimits } from '../../lib/machine.ts'
import { statement } from '../../lib/package.ts'
import { spillFolder } from '../../lib/spill.ts'

/** Temporary macros belong to a connection. */
const MACROS = statement('lake/macros')

/**
 * The database that writes raw days and reads what has landed, one day per thread, so that the
 * memory for a day depends on its largest row, not on the number of rows. It is opened on first use.
 */
export class LandingDatabase {
  readonly #dataFolder: string
  #first: Promise<Database> | undefined
  readonly #others: Database[] = []
  readonly #idle: Database[] = []
  readonly #queue = new PQueue({ concurrency: processLimits().landing.threads })

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder
  }

  /** Runs `work` with a connection of its own, as soon as one is free. */
  async use<T>(work: (database: Database) => Promise<T>): Promise<T> {
    return this.#queue.add(async () => {
      const database = this.#idle.pop() ?? (await this.#another())
      try {
        return await work(database)
      } finally {
        this.#idle.push(database)
      }
    })
  }

  async close(): Promise<void> {
    for (const other of this.#others) other.close()
    const first = await this.#first?.catch(() => undefined) // who used it has its error
    first?.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #another(): Promise<Database> {
    if (this.#first === undefined) {
      this.#first = this.#open()
      return this.#first
    }
    const other = await (await this.#first).another()
    this.#others.push(other)
    await other.run(MACROS)
    return other
  }

  async #open(): Promise<Database> {
    const database = await Database.open(':memory:', {
      ...processLimits().landing,
      // It needs no threads of its own: they would take work from the threads that wait for it.
      threads: 1,
      isLowMemory: true,
      tempDirectory: spillFolder(this.#dataFolder),
    })
    await database.run(MACROS)
    return database
  }
}
