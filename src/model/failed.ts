import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../core/errors.ts'
import { readJson, writeAtomic } from '../store/files.ts'

/** A file that was not published, left for a look and for a retry. */
export interface FailedFile {
  readonly path: string
  /** Says what the sources held: another digest, other rows. */
  readonly sources: string
}

const shape = z.object({ run_id: z.string(), sources: z.string() })

/** Leaves the file `aside` of the run in its place; there is one at most. */
export async function leaveFailed(
  aside: string,
  { path, sources }: FailedFile,
  runId: string,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await rename(aside, path)
  await writeAtomic(recordPath(path), `${JSON.stringify({ run_id: runId, sources })}\n`)
}

/** After a build that was published. */
export async function forgetFailed({ path }: FailedFile): Promise<void> {
  await rm(path, { force: true })
  await rm(recordPath(path), { force: true })
}

/**
 * The run whose file failed and can be gone on with.
 *
 * @throws UsageError when there is none, or when the sources hold something else by now.
 */
export async function runToRetry(failed: FailedFile | undefined): Promise<string> {
  const record =
    failed === undefined ? undefined : await readJson(recordPath(failed.path), () => undefined)
  const { data } = shape.safeParse(record)
  if (data === undefined) throw new UsageError('--retry: no build has failed', EVERYTHING)
  if (data.sources === failed?.sources) return data.run_id
  const problem = `--retry: other days have landed since run ${data.run_id} failed`
  throw new UsageError(problem, EVERYTHING)
}

export const EVERYTHING = { hint: 'Build everything: agent-warehouse build.' }

function recordPath(path: string): string {
  return `${path}.json`
}
