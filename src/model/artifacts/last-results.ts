import { join } from 'node:path'
import { z } from 'zod'
import { readJson } from '../../lib/files.ts'

const resultsShape = z.object({
  metadata: z.object({ env: z.record(z.string(), z.string()) }),
  results: z.array(z.object({ unique_id: z.string(), status: z.string() })),
})

const entries = z.record(
  z.string(),
  z.object({
    name: z.string(),
    attached_node: z.string().optional(),
    depends_on: z.object({ nodes: z.array(z.string()).default([]) }).optional(),
  }),
)
const manifestShape = z.object({ nodes: entries, unit_tests: entries })
type Entries = z.output<typeof entries>

/** What became of each model and its tests in the last build. */
export interface LastResults {
  readonly runId: string
  /** dbt's words, by the model's name. */
  readonly byModel: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Reads `run_results.json`, and the manifest of the same build: a test that
 * failed may be no more. Null where they are not there or cannot be read.
 */
export async function readLastResults(folder: string): Promise<LastResults | null> {
  const read = (name: string): Promise<unknown> => readJson(join(folder, name), () => undefined)
  const results = resultsShape.safeParse(await read('run_results.json')).data
  const manifest = manifestShape.safeParse(await read('manifest.json')).data
  if (results === undefined || manifest === undefined) return null
  const all = { ...manifest.nodes, ...manifest.unit_tests }
  const byModel = new Map<string, Set<string>>()
  for (const { unique_id: id, status } of results.results) {
    for (const model of modelsOf(id, all)) {
      byModel.set(model, new Set([...(byModel.get(model) ?? []), status]))
    }
  }
  return { runId: results.metadata.env['run_id'] ?? '', byModel }
}

/** The models that a result is about: itself, or what the test is of. */
function modelsOf(id: string, all: Entries): readonly string[] {
  const entry = all[id]
  const isTest = id.startsWith('test.') || id.startsWith('unit_test.')
  if (entry === undefined) return []
  if (!isTest) return [entry.name]
  const of = entry.attached_node === undefined ? entry.depends_on?.nodes : [entry.attached_node]
  return (of ?? []).flatMap((parent) => all[parent]?.name ?? [])
}
