import { z } from 'zod'
import { Database } from '../../lib/duckdb.ts'
import { statement } from '../../lib/package.ts'
import { modelId, type JsonObject } from './ids.ts'
import type { EntryContext } from './manifest.ts'
import { metadata, type Invocation } from './results.ts'

const columnRows = z.array(
  z.object({
    schema: z.string(),
    relation: z.string(),
    kind: z.enum(['BASE TABLE', 'VIEW']),
    relation_comment: z.string().nullable(),
    name: z.string(),
    type: z.string(),
    index: z.number(),
    comment: z.string().nullable(),
  }),
)
type ColumnRow = z.output<typeof columnRows>[number]

/** `catalog.json` (v1): the tables and views of the published file `path` that models made. */
export async function catalog(
  path: string,
  { project, plan, database }: EntryContext,
  invocation: Invocation,
): Promise<JsonObject> {
  const columns = await readColumns(path)
  const nodes = plan.models.flatMap((node): [string, JsonObject][] => {
    const own = columns.filter((row) => row.schema === node.schema && row.relation === node.name)
    const [first] = own
    if (first === undefined) return []
    const id = modelId(project.name, node)
    return [[id, tableEntry(id, database, first, own)]]
  })
  return {
    metadata: metadata('catalog/v1', invocation),
    nodes: Object.fromEntries(nodes),
    sources: {},
    errors: null,
  }
}

async function readColumns(path: string): Promise<ColumnRow[]> {
  await using db = await Database.open(path, { readOnly: true })
  return columnRows.parse(await db.rows(statement('meta/catalog')))
}

function tableEntry(
  id: string,
  database: string,
  { schema, relation, kind, relation_comment: comment }: ColumnRow,
  columns: readonly ColumnRow[],
): JsonObject {
  return {
    metadata: { type: kind, schema, name: relation, database, comment, owner: null },
    columns: Object.fromEntries(
      columns.map(({ name, type, index, comment }) => [name, { type, index, name, comment }]),
    ),
    stats: {
      has_stats: {
        id: 'has_stats',
        label: 'Has Stats?',
        value: false,
        include: false,
        description: 'Indicates whether there are statistics for this table',
      },
    },
    unique_id: id,
  }
}
