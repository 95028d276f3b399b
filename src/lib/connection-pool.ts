import PQueue from 'p-queue'
import type { Database } from './duckdb.ts'

interface PoolOptions<Worker> {
  readonly concurrency: number
  readonly open: () => Promise<Database>
  /** Prepares a new connection, and returns what works with it. */
  readonly prepare: (database: Database) => Promise<Worker>
}

/**
 * Connections to one database, which is opened on first use. Each is prepared once, and serves
 * one caller at a time.
 */
export class ConnectionPool<Worker> implements AsyncDisposable {
  readonly #options: PoolOptions<Worker>
  readonly #queue: PQueue
  #database: Promise<Database> | undefined
  readonly #connections: Database[] = []
  readonly #idle: Worker[] = []

  constructor(options: PoolOptions<Worker>) {
    this.#options = options
    this.#queue = new PQueue({ concurrency: options.concurrency })
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

  async #connect(): Promise<Worker> {
    this.#database ??= this.#options.open().catch((error: unknown) => {
      this.#database = undefined // the next one tries again
      throw error
    })
    const connection = await (await this.#database).another()
    this.#connections.push(connection)
    return this.#options.prepare(connection)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#queue.onIdle()
    for (const connection of this.#connections) connection.close()
    const database = await this.#database
    database?.close()
  }
}
