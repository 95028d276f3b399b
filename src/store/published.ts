import { constants } from 'node:fs'
import { copyFile, link, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import {
  asidePath,
  codeOf,
  fromPathSegment,
  listIfThere,
  pathSegment,
  readJson,
  settle,
  syncFolder,
  writeAtomic,
} from './files.ts'
import { warehousePath } from './lake.ts'

/** A file that was published before, kept under the run that built it. */
export interface KeptFile {
  readonly runId: string
  readonly path: string
  readonly bytes: number
}

const ENDING = '.duckdb'

/** `<data>/published`: the last files that were published, `<run_id>.duckdb`. */
function publishedFolder(dataFolder: string): string {
  return join(dataFolder, 'published')
}

/** The kept files, the oldest first: a run's id begins with its time. */
export async function keptFiles(dataFolder: string): Promise<KeptFile[]> {
  const folder = publishedFolder(dataFolder)
  const names = (await listIfThere(folder))
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .filter((name) => name.endsWith(ENDING))
    .sort()
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const { size: bytes } = await stat(path)
      return { runId: fromPathSegment(name.slice(0, -ENDING.length)), path, bytes }
    }),
  )
}

/** Keeps the published file, which the run built, before another takes its place. */
export async function keepPublished(dataFolder: string, runId: string): Promise<void> {
  const folder = publishedFolder(dataFolder)
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${pathSegment(runId)}${ENDING}`)
  const aside = asidePath(path)
  try {
    await share(warehousePath(dataFolder), aside)
    await settle(aside, path)
  } finally {
    await rm(aside, { force: true }) // a rename onto another name of the same file does nothing
  }
}

/** Removes all but the latest `count` kept files; the one that `runId` built does not count. */
export async function prunePublished(
  dataFolder: string,
  count: number,
  runId: string,
): Promise<void> {
  const earlier = (await keptFiles(dataFolder)).filter((file) => file.runId !== runId)
  for (const { path } of earlier.slice(0, Math.max(0, earlier.length - count))) {
    await rm(path, { force: true })
  }
}

/** Publishes a kept file, at once for all who open the warehouse from now on. It stays kept. */
export async function putBack(dataFolder: string, file: KeptFile): Promise<void> {
  const target = warehousePath(dataFolder)
  const aside = asidePath(target)
  try {
    await share(file.path, aside)
    // a log beside the old file would be replayed onto this one
    await rm(`${target}.wal`, { force: true })
    await settle(aside, target)
    await syncFolder(publishedFolder(dataFolder))
  } finally {
    await rm(aside, { force: true })
  }
}

/** The same content under another name: no bytes are copied where the file system can do that. */
async function share(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw error
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
}

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

/** To be called when the present is published again. */
export async function forgetRollback(dataFolder: string): Promise<void> {
  await rm(rollbackPath(dataFolder), { force: true })
}
