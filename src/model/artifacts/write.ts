import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { writeAtomic } from '../../lib/files.ts'
import type { Compiled } from '../project/compile.ts'
import { messageOf } from '../../lib/errors.ts'
import type { FreshnessResult } from '../checks/freshness.ts'
import type { RunningBuild, Outcome } from '../shared/context.ts'
import type { ModelNode, Project } from '../project/types.ts'
import { compact, modelId, type Entry, type JsonObject } from './ids.ts'
import { byId, manifest, nodesOf, type EntryContext } from './manifest.ts'
import { runResults, sources, metadata, type Invocation } from './results.ts'
import type { Relation, Relations } from '../shared/relations.ts'

interface BuildResults {
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly outcomes: ReadonlyMap<string, Outcome>
  readonly freshness: readonly FreshnessResult[]
  /** The relations of the published file, if this build published it; otherwise the catalogue stays. */
  readonly relations?: Relations
}

/**
 * Writes dbt's artifacts of a build: `manifest.json` (v12), `run_results.json` (v6),
 * `sources.json` (v3) and, if its file was published, `catalog.json` (v1). Each is
 * replaced atomically. If artifacts cannot be written, the build stays published.
 */
export async function writeArtifacts(
  build: RunningBuild,
  compiled: Compiled,
  { startedAt, outcomes, freshness, relations }: BuildResults,
): Promise<void> {
  const { artifacts, project, sourceSql, target, runId, now, emit, select = null } = build
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
      ...(relations ? [write('catalog', catalog(relations, context, invocation))] : []),
    ])
  } catch (error) {
    emit({ type: 'warning', message: `${folder} could not be written: ${messageOf(error)}` })
  }
}

async function checksumsOf(project: Project, { models }: Compiled): Promise<Map<string, string>> {
  const checksums = new Map<string, string>()
  for (const { name, file, seed, snapshot } of models) {
    if (seed !== null) {
      checksums.set(name, hash('sha256', (await readFile(seed.csv.path, 'utf8')).trim()))
    } else if (snapshot !== null) {
      const yml = await readFile(join(project.folder, file), 'utf8')
      checksums.set(name, hash('sha256', compact(yml)))
    }
  }
  return checksums
}

/** `catalog.json` (v1): the tables and views of models in the published file. */
function catalog(
  relations: Relations,
  { project, compiled, database }: EntryContext,
  invocation: Invocation,
): JsonObject {
  const nodes = compiled.models.flatMap((node) => {
    const relation = relations.get(node.relation)
    return relation === undefined ? [] : [tableEntry(node, relation, project, database)]
  })
  return {
    metadata: metadata('catalog/v1', invocation),
    nodes: byId(nodes),
    sources: {},
    errors: null,
  }
}

function tableEntry(
  node: ModelNode,
  { kind, comment, columns }: Relation,
  project: Project,
  database: string,
): Entry {
  const { schema, name } = node
  const type = kind === 'view' ? 'VIEW' : 'BASE TABLE'
  return {
    metadata: { type, schema, name, database, comment, owner: null },
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
    unique_id: modelId(project.name, node),
  }
}
