import type * as NodeApi from '@duckdb/node-api'
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api'
import { createRequire } from 'node:module'
import { inMegabytes, processLimits } from './machine.ts'

// `import` would search each of the library's hundred CommonJS files for its exports, which is
// a fifth of the time to start a command.
const load: {
  (name: '@duckdb/node-api'): typeof NodeApi
  (name: '@duckdb/node-api/lib/vectors/dataAccessors.js'): { textDecoder: object }
} = createRequire(import.meta.url)

/** Loads the library with the first database: help and refused options have no use for it. */
function library(): typeof NodeApi {
  const api = load('@duckdb/node-api')
  // it spells TIMESTAMPTZ in the machine's zone and ignores the session's TimeZone
  api.DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0
  // it would drop a byte order mark at the beginning of a text
  const accessors = load('@duckdb/node-api/lib/vectors/dataAccessors.js')
  accessors.textDecoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return api
}

/** A cell as JSON can carry it: exact integers beyond 2^53 and decimals are strings. */
export type Cell =
  string | number | boolean | null | readonly Cell[] | { readonly [key: string]: Cell }

/** A value without loss, as the library returns it; `String(value)` writes it as DuckDB does. */
export type Value = DuckDBValue

export type Row = Readonly<Record<string, Cell>>

interface OpenOptions {
  readonly readOnly?: boolean
  /** DuckDB's own limit, for example `256MB`; the process uses about 100 MB more. Default: the limit of queries. */
  readonly memoryLimit?: string
  readonly threads?: number
  /** Where queries spill beyond the memory limit, within the spill limit of the process. */
  readonly tempDirectory?: string
  /**
   * When freed memory returns to the system: `early`, so that memory does not grow with the number
   * of statements, or `at once`, which takes more time. Default: later.
   */
  readonly freed?: 'early' | 'at once'
  /** When it aborts, the running statement ends; it and later ones reject with the reason, an AppError. */
  readonly signal?: AbortSignal | undefined
}

/** A result with its column names in order, duplicates included. */
export interface Table<Of = Cell> {
  readonly columns: readonly string[]
  /** DuckDB's name of each column's type, e.g. `BIGINT`. */
  readonly types: readonly string[]
  readonly rows: readonly (readonly Of[])[]
}

/**
 * A DuckDB database; only this file imports `@duckdb/node-api`. Results are read
 * as a whole, because the library's `stream*` methods end silently when a query
 * fails half way (docs/dependencies.md).
 */
export class Database {
  readonly #instance: DuckDBInstance
  readonly #connection: DuckDBConnection
  readonly #isFirst: boolean
  readonly #signal: AbortSignal | undefined

  private constructor(
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    isFirst: boolean,
    signal: AbortSignal | undefined,
  ) {
    this.#instance = instance
    this.#connection = connection
    this.#isFirst = isFirst
    this.#signal = signal
  }

  /** Opens a file, or `:memory:`. Extensions are never fetched; time is UTC. */
  static async open(path: string, options: OpenOptions = {}): Promise<Database> {
    const { query, spill } = processLimits()
    const instance = await library().DuckDBInstance.create(path, {
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      ...allocation(options.freed),
      ...(options.readOnly === true ? { access_mode: 'READ_ONLY' } : {}),
      memory_limit: options.memoryLimit ?? query.memoryLimit,
      threads: String(options.threads ?? query.threads),
      ...(options.tempDirectory === undefined ? {} : { temp_directory: options.tempDirectory }),
    })
    const connection = await connect(instance)
    // by default DuckDB spills until nine tenths of the disk are full; it ignores this setting as
    // an option of opening
    if (spill !== null) {
      await connection.run(`set max_temp_directory_size = '${inMegabytes(spill)}'`)
    }
    return new Database(instance, connection, true, options.signal)
  }

  /** Opens another connection to the same database, with its own temporary tables. Close it first. */
  async another(): Promise<Database> {
    return new Database(this.#instance, await connect(this.#instance), false, this.#signal)
  }

  /** Runs one or more statements and reads nothing back. */
  async run(sql: string): Promise<void> {
    await this.#stoppable(() => this.#connection.run(sql))
  }

  /** Rows as objects. Positional (`$1`) or named (`$name`) parameters. */
  async rows(
    sql: string,
    parameters?: DuckDBValue[] | Record<string, DuckDBValue>,
  ): Promise<Row[]> {
    const reader = await this.#stoppable(() => this.#connection.runAndReadAll(sql, parameters))
    return reader.getRowObjectsJson()
  }

  /** The whole result with its column names and types. */
  async table(sql: string): Promise<Table> {
    const reader = await this.#stoppable(() => this.#connection.runAndReadAll(sql))
    return {
      columns: reader.columnNames(),
      types: reader.columnTypes().map(String),
      rows: reader.getRowsJson(),
    }
  }

  /** The same with values as the library returns them, which keep their types within nested ones. */
  async exactTable(sql: string): Promise<Table<Value>> {
    const reader = await this.#stoppable(() => this.#connection.runAndReadAll(sql))
    return {
      columns: reader.columnNames(),
      types: reader.columnTypes().map(String),
      rows: reader.getRows(),
    }
  }

  /** Does the work in a transaction, which is rolled back if it fails. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.run('begin transaction')
    try {
      const result = await work()
      await this.run('commit')
      return result
    } catch (error) {
      await this.run('rollback').catch(() => undefined) // the first error is reported, not this one
      throw error
    }
  }

  /** Repeats the interrupt, because DuckDB ignores one that comes just before a statement begins. */
  async #stoppable<T>(statement: () => Promise<T>): Promise<T> {
    const signal = this.#signal
    if (signal === undefined) return statement()
    signal.throwIfAborted()
    let timer: NodeJS.Timeout | undefined
    const stop = (): void => {
      timer = setInterval(() => {
        this.#connection.interrupt()
      }, 50)
    }
    signal.addEventListener('abort', stop)
    try {
      return await statement()
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      clearInterval(timer)
    }
  }

  close(): void {
    this.#connection.closeSync()
    if (this.#isFirst) this.#instance.closeSync()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
    await Promise.resolve()
  }
}

async function connect(instance: DuckDBInstance): Promise<DuckDBConnection> {
  const connection = await instance.connect()
  await connection.run("set TimeZone = 'UTC'")
  return connection
}

/**
 * By default DuckDB keeps hundreds of megabytes that it has freed, and caches the files that it
 * has read. With thousands of small files, that cache fills the memory limit and is slower than
 * reading them again.
 */
function allocation(freed: OpenOptions['freed'] | 'later' = 'later'): Record<string, string> {
  const threshold = { later: '16MB', early: '4MB', 'at once': '1MB' }[freed]
  return {
    allocator_flush_threshold: threshold,
    allocator_bulk_deallocation_flush_threshold: threshold,
    allocator_background_threads: String(freed === 'at once'),
    enable_external_file_cache: 'false',
  }
}

/** A string as an SQL literal; a statement would end at a NUL. */
export function literal(text: string): string {
  const pieces = text.split('\0').map((piece) => `'${piece.replaceAll("'", "''")}'`)
  return pieces.length === 1 ? pieces.join('') : `(${pieces.join(' || chr(0) || ')})`
}

/** A name as a quoted SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Strings as an SQL list literal. */
export function listLiteral(texts: readonly string[]): string {
  return `[${texts.map(literal).join(', ')}]`
}

/** Inserts rows into a table, sorted. Their JSON values are cast to the column types. */
export async function insertRows(
  db: Database,
  relation: string,
  rows: readonly object[],
): Promise<void> {
  const { columns, types } = await db.table(`select * from ${relation} limit 0`)
  const shape = Object.fromEntries(columns.map((name, index) => [name, types[index] ?? 'VARCHAR']))
  await db.rows(
    `insert into ${relation} by name
    select * from (
      select unnest(
        from_json(cast($rows as varchar), ${literal(JSON.stringify([shape]))}), recursive := true
      )
    )
    order by all`,
    { rows: JSON.stringify(rows) },
  )
}
