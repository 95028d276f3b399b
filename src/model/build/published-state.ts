import { z } from 'zod'
import { messageOf } from '../../lib/errors.ts'
import { Database } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import { ENGINE } from '../engines/duckdb.ts'
import type { MadeBy } from '../project/fingerprint.ts'

export interface PublishedModel extends MadeBy {
  /** The DuckDB that made it, and the storage format. */
  readonly engine: string
  /** True when they are those of this build. */
  readonly isSameEngine: boolean
  /** Digest of its unit tests, which passed; null where it had none. */
  readonly unitTests: string | null
}

/** What the file that a build continues from holds, by the record in it. */
export interface PublishedState {
  readonly models: ReadonlyMap<string, PublishedModel>
  /** Statements of the checks that found nothing wrong in it, by name. */
  readonly passed: ReadonlyMap<string, string>
  /** Why nothing is continued from; null where something is, or where there is nothing. */
  readonly problem: string | null
}

const modelRows = z.array(
  z.object({
    model: z.string(),
    made_by: z.string(),
    fingerprint: z.string(),
    content: z.string().nullable(),
    unit_tests: z.string().nullable(),
    engine: z.string(),
    is_same_engine: z.boolean(),
  }),
)
const checkRows = z.array(z.object({ check_name: z.string(), query: z.string() }))

/** Reads what the file says of itself; one that cannot be read holds nothing. */
export async function readPublishedState(path: string): Promise<PublishedState> {
  try {
    const db = await Database.open(path, { readOnly: true })
    try {
      return await read(db)
    } finally {
      db.close()
    }
  } catch (error) {
    return emptyState(`it cannot be read: ${messageOf(error)}`)
  }
}

async function read(db: Database): Promise<PublishedState> {
  const models = await db.rows(fill(statement('meta/held'), { engine: ENGINE }))
  const checks = await db.rows(statement('meta/passed'))
  return {
    models: new Map(modelRows.parse(models).map((row) => [row.model, publishedModel(row)])),
    passed: new Map(checkRows.parse(checks).map((row) => [row.check_name, row.query])),
    problem: null,
  }
}

function publishedModel(row: z.output<typeof modelRows>[number]): PublishedModel {
  const { made_by: own, fingerprint: whole, content, engine, is_same_engine: isSameEngine } = row
  return { own, whole, content, engine, isSameEngine, unitTests: row.unit_tests }
}

export function emptyState(problem: string | null): PublishedState {
  return { models: new Map(), passed: new Map(), problem }
}
