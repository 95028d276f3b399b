import { createHash } from 'node:crypto'
import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { messageOf, UsageError } from '../../lib/errors.ts'
import {
  makeReadOnly,
  readIfThere,
  readJson,
  removeFile,
  sha256OfFile,
  writeAtomic,
} from '../../lib/files.ts'
import type { BuildOptions } from '../shared/context.ts'
import { makeWorkingCopy } from './working-copy.ts'

const shape = z.object({
  run_id: z.string(),
  sources: z.string(),
  sha256: z.string(),
  results: z.string(),
})

type FailedBuild = Pick<BuildOptions, 'failedFile' | 'artifacts' | 'runId'>

/**
 * Keeps the temporary file as the failed file, or removes it if failed files are not kept. Returns
 * whether it was kept. At most one is kept; `recordFailed` records it.
 */
export async function keepFailed(temporary: string, { failedFile }: FailedBuild): Promise<boolean> {
  if (failedFile === undefined) {
    await removeFile(temporary)
    return false
  }
  const { path } = failedFile
  await removeFile(recordPath(path))
  await mkdir(dirname(path), { recursive: true })
  await makeReadOnly(temporary)
  await rename(temporary, path)
  return true
}

/** Records the failed file, and the digest of its build's results, which are on disk. */
export async function recordFailed({ failedFile, artifacts, runId }: FailedBuild): Promise<void> {
  if (failedFile === undefined) return
  const { path, sources } = failedFile
  const sha256 = await sha256OfFile(path)
  const results = await resultsDigest(artifacts?.folder)
  const record = { run_id: runId, sources, sha256, results }
  await writeAtomic(recordPath(path), `${JSON.stringify(record)}\n`)
}

/** Digest of the artifacts that name the failed models and tests. */
async function resultsDigest(artifacts: string | undefined): Promise<string> {
  const hash = createHash('sha256')
  if (artifacts === undefined) return hash.digest('hex')
  for (const name of ['run_results.json', 'manifest.json']) {
    hash.update(`${name} ${(await readIfThere(join(artifacts, name))) ?? ''}`)
  }
  return hash.digest('hex')
}

/** Removes the failed file and its record, after a published build. */
export async function forgetFailed({ failedFile }: FailedBuild): Promise<void> {
  if (failedFile === undefined) return
  await removeFile(failedFile.path)
  await removeFile(recordPath(failedFile.path))
}

/**
 * A copy of the failed run's file to continue from, and the id of the run.
 *
 * @throws UsageError if there is none, if the sources have changed since, or if the file or the
 *   results are not those of the run.
 */
export async function openFailed(
  { failedFile, artifacts }: Pick<FailedBuild, 'failedFile' | 'artifacts'>,
  target: string,
): Promise<{ readonly runId: string; readonly path: string }> {
  const path = failedFile?.path ?? ''
  const found = failedFile && (await readJson(recordPath(path), () => undefined))
  const { data: record } = shape.safeParse(found)
  if (record === undefined) throw refusal('no build has failed')
  const { run_id: runId } = record
  if (record.sources !== failedFile?.sources) {
    throw refusal(`other days have landed since run ${runId} failed`)
  }
  if (record.results !== (await resultsDigest(artifacts?.folder))) throw noResults(runId)
  const copied = await makeWorkingCopy(path, target).catch((error: unknown) => {
    throw refusal(`${path} cannot be read: ${messageOf(error)}`)
  })
  if (copied.sha256 === record.sha256) return { runId, path: copied.path }
  await removeFile(copied.path)
  throw refusal(
    `${path} is not the file that run ${runId} left: its SHA-256 is not the recorded one`,
  )
}

/** The error for results of the failed run that no longer exist. */
export function noResults(runId: string): UsageError {
  return refusal(`the results of run ${runId} are no longer recorded`)
}

function refusal(problem: string): UsageError {
  return new UsageError(`--retry: ${problem}`, {
    hint: 'Build everything: agent-warehouse build.',
  })
}

function recordPath(path: string): string {
  return `${path}.json`
}
