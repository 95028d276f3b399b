import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { EntityResource } from '../../lib/resource-names.ts'
import { listLiteral, literal, type Row } from '../../lib/duckdb.ts'
import { rawFolder } from '../../lake/layout.ts'
import type { Ledger } from '../../lake/ledger.ts'
import { statement, fill } from '../../lib/package.ts'
import { LandingDatabase } from '../land/landing-database.ts'
import type { RawRow } from '../land/row-lines.ts'

/** Whose lake is read. */
export interface LakeOf {
  readonly dataFolder: string
  readonly orgId: string
  readonly recorder: { readonly intervals: Ledger }
}

/** The text of a column; empty where it has none. */
export function textIn(row: Row, column: string): string {
  const value = row[column]
  return typeof value === 'string' ? value : ''
}

/** The items of a resource that have landed, on whatever day. */
export class KnownItems {
  readonly #hashes: ReadonlySet<string>
  readonly #keys: ReadonlySet<string>

  constructor(rows: readonly Row[]) {
    this.#hashes = new Set(rows.map((row) => textIn(row, 'hash')))
    this.#keys = new Set(rows.map((row) => textIn(row, 'key')))
  }

  /** True when the very item is known. */
  has({ item }: RawRow): boolean {
    return this.#hashes.has(hash('sha256', item))
  }

  /** True when an item with the key is known, as it is or otherwise. */
  hasKey(key: string): boolean {
    return this.#keys.has(key)
  }
}

/** `key`: the JSON path of what identifies an item. */
export async function knownItems(
  lake: LakeOf,
  resource: EntityResource,
  key: string,
): Promise<KnownItems> {
  return new KnownItems(await askLake(lake, resource, 'known_items', { key: literal(key) }))
}

/**
 * Rows of a statement in `sql/lake` over the current version of every day of a
 * resource, which are verified; none where nothing has landed.
 */
export async function askLake(
  { dataFolder, orgId, recorder }: LakeOf,
  resource: EntityResource,
  name: string,
  values: Readonly<Record<string, string>> = {},
): Promise<readonly Row[]> {
  const files = [...recorder.intervals.values()].flatMap(({ resource: of, day, file }) =>
    of !== resource || file === null ? [] : [join(rawFolder(dataFolder, orgId, of, day), file)],
  )
  if (files.length === 0) return []
  const database = await LandingDatabase.open(dataFolder)
  try {
    return await database.use(async (connection) => {
      await connection.run(statement('lake/macros'))
      const sql = fill(statement(`lake/${name}`), { ...values, files: listLiteral(files) })
      return connection.rows(sql)
    })
  } finally {
    database.close()
  }
}
