import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { writeAtomic } from '../../lib/files.ts'
import type { Compiled } from '../project/compile.ts'
import { messageOf } from '../../lib/errors.ts'
import type { FreshnessResult } from '../checks/freshness.ts'
import type { Building, Outcome } from '../build/context.ts'
import type { Project } from '../project/types.ts'
import { compact, digest, type JsonObject, modelId } from './ids.ts'
import { manifest, nodesOf, type EntryContext } from './manifest.ts'
import { runResults, sources, metadata, type Invocation } from './results.ts'
import { z } from 'zod'
import { Database } from '../../lib/duckdb.ts'
import { statement } from '../../lib/package.ts'

/** What became of a build. */
interface BuildResults {
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly outcomes: ReadonlyMap<string, Outcome>
  readonly freshness: readonly FreshnessResult[]
  /** Whether this build's file is the published one: else the catalogue stays as it was. */
  readonly isPublished: boolean
}

/**
 * Writes what consumers of dbt's artifacts read of a build: `manifest.json`
 * (v12), `run_results.json` (v6), `sources.json` (v3), and when its file was
 * published `catalog.json` (v1). Readers see the old one or the new one of each.
 * If artifacts cannot be written, the build stays published.
 */
export async function writeArtifacts(
  building: Building,
  compiled: Compiled,
  { startedAt, outcomes, freshness, isPublished }: BuildResults,
): Promise<void> {
  const { artifacts, project, sourceSql, target, runId, now, emit, select = null } = building
  if (artifacts === undefined) return
  const { folder, builder } = artifacts
  const invocation = { runId, startedAt, finishedAt: now(), builder }
  const write = async (name: string, content: JsonObject): Promise<void> => {
    await writeAtomic(join(folder, `${name}.json`), `${JSON.stringify(content)}\n`)
  }
  try {
    const database = basename(target).replace(/\.duckdb$/, '')
    const createdAt = invocation.finishedAt / 1000
    const fileChecksums = await checksumsOf(project, compiled)
    const context = { project, compiled, database, sourceSql, createdAt, fileChecksums }
    const nodes = nodesOf(context)
    await Promise.all([
      write('manifest', manifest(context, nodes, invocation)),
      write('run_results', runResults(outcomes, nodes, invocation, select)),
      write('sources', sources(freshness, project.name, invocation)),
      ...(isPublished ? [write('catalog', await catalog(target, context, invocation))] : []),
    ])
  } catch (error) {
    emit({ type: 'warning', message: `${folder} could not be written: ${messageOf(error)}` })
  }
}

async function checksumsOf(project: Project, { models }: Compiled): Promise<Map<string, string>> {
  const checksums = new Map<string, string>()
  for (const { name, file, seed, snapshot } of models) {
    if (seed !== null) {
      checksums.set(name, digest('sha256', (await readFile(seed.csv.path, 'utf8')).trim()))
    } else if (snapshot !== null) {
      checksums.set(
        name,
        digest('sha256', compact(await readFile(join(project.folder, file), 'utf8'))),
      )
    }
  }
  return checksums
}

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
async function catalog(
  path: string,
  { project, compiled, database }: EntryContext,
  invocation: Invocation,
): Promise<JsonObject> {
  const columns = await readColumns(path)
  const nodes = compiled.models.flatMap((node): [string, JsonObject][] => {
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
