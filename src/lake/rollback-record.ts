import { join } from 'node:path'
import { z } from 'zod'
import { readJson, removeFile, writeAtomic } from '../lib/files.ts'

const rollbackShape = z.object({
  run_id: z.string(),
  rolled_back_at: z.iso.datetime(),
  from: z.string().nullable(),
  to: z.string(),
})

/** Which run put which run's file back. */
export interface Rollback {
  readonly runId: string
  /** ISO 8601, UTC. */
  readonly at: string
  /** The run that built the file which was published before; null: it could not be read. */
  readonly from: string | null
  readonly to: string
}

function rollbackPath(dataFolder: string): string {
  return join(dataFolder, 'state', 'rollback.json')
}

/** The last rollback; it is in force while the published file is the one it went to. */
export async function readRollback(dataFolder: string): Promise<Rollback | undefined> {
  const value = await readJson(rollbackPath(dataFolder), () => undefined)
  const { data } = rollbackShape.safeParse(value)
  if (data === undefined) return undefined
  return { runId: data.run_id, at: data.rolled_back_at, from: data.from, to: data.to }
}

export async function writeRollback(
  dataFolder: string,
  { runId, at, from, to }: Rollback,
): Promise<void> {
  const record = { run_id: runId, rolled_back_at: at, from, to }
  await writeAtomic(rollbackPath(dataFolder), `${JSON.stringify(record, null, 2)}\n`)
}

/** To be called when the latest data is published again. */
export async function forgetRollback(dataFolder: string): Promise<void> {
  await removeFile(rollbackPath(dataFolder))
}
