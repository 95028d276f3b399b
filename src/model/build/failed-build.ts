import { createHash } from 'node:crypto'
import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../../lib/errors.ts'
import {
  makeReadOnly,
  readIfThere,
  readJson,
  removeFile,
  sha256OfFile,
  writeAtomic,
} from '../../lib/files.ts'

/** A file that was not published, kept for inspection and for a retry. */
export interface FailedFile {
  readonly path: string
  /** Digest of what the sources contained. */
  readonly sources: string
}

const shape = z.object({
  run_id: z.string(),
  sources: z.string(),
  sha256: z.string(),
  results: z.string(),
})

/** Puts the temporary file in its place; there is one at most. It is not on record yet. */
export async function leaveFailed(temporary: string, { path }: FailedFile): Promise<void> {
  await removeFile(recordPath(path))
  await mkdir(dirname(path), { recursive: true })
  await makeReadOnly(temporary)
  await rename(temporary, path)
}

/** Records the file that was left, and the results of its build in `artifacts`. */
export async function recordFailed(
  { path, sources }: FailedFile,
  runId: string,
  artifacts: string | undefined,
): Promise<void> {
  const [sha256, results] = [await sha256OfFile(path), await resultsDigest(artifacts)]
  const record = { run_id: runId, sources, sha256, results }
  await writeAtomic(recordPath(path), `${JSON.stringify(record)}\n`)
}

/** Of what says which models and tests failed. */
async function resultsDigest(artifacts: string | undefined): Promise<string> {
  const hash = createHash('sha256')
  if (artifacts === undefined) return hash.digest('hex')
  for (const name of ['run_results.json', 'manifest.json']) {
    hash.update(`${name} ${(await readIfThere(join(artifacts, name))) ?? ''}`)
  }
  return hash.digest('hex')
}

/** After a build that was published. */
export async function forgetFailed({ path }: FailedFile): Promise<void> {
  await removeFile(path)
  await removeFile(recordPath(path))
}

/**
 * The run whose file failed and can be continued from, and the digest of the file.
 *
 * @throws UsageError when there is none, when the sources hold something else by now, or
 * when the results are not those that the run left.
 */
export async function runToRetry(
  failed: FailedFile | undefined,
  artifacts: string | undefined,
): Promise<{ readonly runId: string; readonly sha256: string }> {
  const record =
    failed === undefined ? undefined : await readJson(recordPath(failed.path), () => undefined)
  const { data } = shape.safeParse(record)
  if (data === undefined) throw new UsageError('--retry: no build has failed', EVERYTHING)
  const { run_id: runId, sources, sha256, results } = data
  if (sources !== failed?.sources) {
    throw new UsageError(`--retry: other days have landed since run ${runId} failed`, EVERYTHING)
  }
  if (results === (await resultsDigest(artifacts))) return { runId, sha256 }
  const problem = `--retry: the results of run ${runId} are not on record any more`
  throw new UsageError(problem, EVERYTHING)
}

export const EVERYTHING = { hint: 'Build everything: agent-warehouse build.' }

function recordPath(path: string): string {
  return `${path}.json`
}
