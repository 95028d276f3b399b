import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { writeAtomic } from '../../lib/files.ts'
import type { Plan } from '../project/compile.ts'
import type { FreshnessResult } from '../project/freshness.ts'
import type { Outcome } from '../build/outcomes.ts'
import type { Project } from '../project/types.ts'
import { catalog } from './catalog.ts'
import { compact, sha256, type JsonObject } from './ids.ts'
import type { EntryContext } from './entry-context.ts'
import { manifest } from './manifest.ts'
import type { Invocation } from './metadata.ts'
import { runResults } from './run-results.ts'
import { sources } from './sources.ts'

export interface ArtifactOptions {
  /** Where they are written. */
  readonly folder: string
  readonly project: Project
  readonly plan: Plan
  readonly sourceSql: EntryContext['sourceSql']
  readonly outcomes: readonly Outcome[]
  readonly freshness: readonly FreshnessResult[]
  readonly invocation: Invocation
  readonly select: string | null
  /** The published file. */
  readonly target: string
  /** Whether this build's file is the published one: else the catalogue stays as it was. */
  readonly isPublished: boolean
}

/**
 * Writes what consumers of dbt's artifacts read of a build: `manifest.json`
 * (v12), `run_results.json` (v6), `sources.json` (v3), and when its file was
 * published `catalog.json` (v1). Readers see the old one or the new one of each.
 */
export async function writeArtifacts(options: ArtifactOptions): Promise<void> {
  const { project, plan, sourceSql, invocation, outcomes, target } = options
  const database = basename(target).replace(/\.duckdb$/, '')
  const createdAt = invocation.finishedAt / 1000
  const fileChecksums = await checksumsOf(project, plan)
  const context = { project, plan, database, sourceSql, createdAt, fileChecksums }
  const write = async (name: string, content: JsonObject): Promise<void> => {
    await writeAtomic(join(options.folder, `${name}.json`), `${JSON.stringify(content)}\n`)
  }
  const writeCatalog = async (): Promise<void> => {
    await write('catalog', await catalog(target, context, invocation))
  }
  await Promise.all([
    write('manifest', manifest(context, invocation)),
    write('run_results', runResults(outcomes, context, invocation, options.select)),
    write('sources', sources(options.freshness, project.name, invocation)),
    ...(options.isPublished ? [writeCatalog()] : []),
  ])
}

async function checksumsOf(project: Project, { models }: Plan): Promise<Map<string, string>> {
  const checksums = new Map<string, string>()
  for (const { name, file, seed, snapshot } of models) {
    if (seed !== null) {
      checksums.set(name, sha256((await readFile(seed.csv.path, 'utf8')).trim()))
    } else if (snapshot !== null) {
      checksums.set(name, sha256(compact(await readFile(join(project.folder, file), 'utf8'))))
    }
  }
  return checksums
}
