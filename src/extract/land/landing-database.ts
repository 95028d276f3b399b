import PQueue from 'p-queue'
import { Database } from '../../lib/duckdb.ts'
import { processLimits } from '../../lib/machine.ts'
import { spillFolder } from '../../lib/spill.ts'

/**
 * The database that writes raw days, one day per thread, so that the memory for a day depends on
 * its largest row, not on the number of rows.
 */
export class LandingDatabase {
  readonly #first: Database
  readonly #others: Database[] = []
  readonly #idle: Database[]
  readonly #queue = new PQueue({ concurrency: processLimits().landing.threads })

  private constructor(first: Database) {
    this.#first = first
    this.#idle = [first]
  }

  static async open(dataFolder: string): Promise<LandingDatabase> {
    const first = await Database.open(':memory:', {
      ...processLimits().landing,
      // It needs no threads of its own: they would take work from the threads that wait for it.
      threads: 1,
      isLowMemory: true,
      tempDirectory: spillFolder(dataFolder),
    })
    return new LandingDatabase(first)
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

  close(): void {
    for (const other of this.#others) other.close()
    this.#first.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
    await Promise.resolve()
  }

  async #another(): Promise<Database> {
    const other = await this.#first.another()
    this.#others.push(other)
    return other
  }
}
