import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { allOrThrow } from '../lib/concurrency.ts'
import { messageOf } from '../lib/errors.ts'
import { Database } from '../lib/duckdb.ts'
import { pathSegment } from '../lib/files.ts'
import { intervalKey, type Ledger } from '../lake/ledger.ts'
import type { RawFile } from '../lake/quarantine.ts'
import { BASE_ENTITIES } from './base-entities.ts'
import { reportDrift } from './drift-news.ts'
import { readDocumented, SCHEMA_DRIFT } from './drift.ts'
import { groupsOf, type MonthGroup, LIMITS } from './groups.ts'
import { MACROS } from './items.ts'
import { monthTask, writeGroup, type Worker } from './month.ts'
import { baseKey, planBase, type BaseTask, type NormalizeOptions } from './plan.ts'
import { isWhole, readBaseState, writeBaseState, type BaseFiles } from './state.ts'

/** The base files of one organisation that are there, compared with what was written. */
export async function openBase({
  baseIn,
  orgId,
  emit,
}: Pick<NormalizeOptions, 'baseIn' | 'orgId' | 'emit'>): Promise<BaseFiles> {
  const names = BASE_ENTITIES.map(({ name }) => name)
  return readBaseState(baseIn, orgId, names, (message) => {
    emit({ type: 'warning', message, about: 'damage' })
  })
}

/**
 * Writes the base months of one organisation whose raw days changed. Returns how
 * many. `base`: the result of `openBase`, which is kept up to date, and is invalid if this
 * throws.
 */
export async function normalize(options: NormalizeOptions, base?: BaseFiles): Promise<number> {
  const { ledger } = options
  const present = base ?? (await openBase(options))
  const whole = await planAll(options, present)
  const damaged = await options.quarantineDamaged(sourcesOf(whole))
  if (damaged === null) return 0
  const verified = { ...options, ledger: without(ledger, damaged) }
  const tasks = damaged.length === 0 ? whole : await planAll(verified, present)
  if (tasks.length > 0) await writeMonths(options, tasks, present)
  return tasks.length
}

/** All due files; while resources are incomplete, only those made from one complete resource. */
async function planAll(options: NormalizeOptions, present: BaseFiles): Promise<BaseTask[]> {
  const state = Object.fromEntries([...present].map(([key, file]) => [key, file.fingerprint]))
  const due = []
  for (const entity of BASE_ENTITIES) due.push(...(await planBase(options, entity, state)))
  const isComplete = ({ entity: { resource } }: BaseTask): boolean =>
    resource !== null && (options.only?.has(resource) ?? true)
  const isAll = due.every((task) => task.entity.resource === null || isComplete(task))
  return isAll ? due : due.filter(isComplete)
}

/** Each file once. Entities of all resources add only earlier versions: others add current ones. */
function sourcesOf(tasks: readonly BaseTask[]): RawFile[] {
  const sources = tasks.flatMap(({ entity, days }) =>
    days.flatMap(({ resource, day, files }) =>
      files
        .slice(0, entity.resource === null ? -1 : undefined)
        .map((file) => ({ resource, day, file })),
    ),
  )
  return [
    ...new Map(sources.map((raw) => [`${raw.resource}/${raw.day}/${raw.file}`, raw])).values(),
  ]
}

/** Removes days whose current version is damaged. Damage to an older version removes none. */
function without(ledger: Ledger, damaged: readonly RawFile[]): Ledger {
  const rest = new Map(ledger)
  for (const { resource, day, file } of damaged) {
    const key = intervalKey(resource, day)
    if (rest.get(key)?.file === file) rest.delete(key)
  }
  return rest
}

async function writeMonths(
  options: NormalizeOptions,
  tasks: readonly BaseTask[],
  present: BaseFiles,
): Promise<void> {
  const { baseIn, dataFolder, orgId, signal } = options
  const before = new Map(present)
  for (const task of tasks) present.delete(baseKey(task))
  await writeBaseState(baseIn, orgId, present) // a killed run must not claim these files
  const folder = join(dataFolder, 'state', 'spill', pathSegment(orgId), 'base')
  await mkdir(folder, { recursive: true })
  const database = await Database.open(':memory:', {
    memoryLimit: LIMITS.memory,
    threads: 1,
    isLowMemory: true,
    tempDirectory: folder,
  })
  try {
    const worker = await prepare(database, folder)
    const due = []
    for (const task of tasks) {
      due.push(await monthTask(options, database, task, isWhole(before.get(baseKey(task)))))
    }
    await onWorkers(worker, await groupsOf(options, due), (own, group) =>
      writeGroup(options, own, group, (task, file) => {
        present.set(baseKey(task), { fingerprint: task.fingerprint, ...file })
      }),
    )
    const isNews = signal?.aborted !== true && tasks.some(({ entity }) => entity === SCHEMA_DRIFT)
    if (isNews) await reportDrift(options, database)
  } finally {
    database.close()
    await rm(folder, { recursive: true, force: true })
    await writeBaseState(baseIn, orgId, present)
  }
}

/** Creates what the statements need on a connection. */
async function prepare(database: Database, folder: string): Promise<Worker> {
  await database.run(MACROS)
  return { database, folder, documented: await readDocumented(database) }
}

/**
 * Processes all groups, several at once. A failed group is repeated month by month at the end,
 * alone and with memory for huge rows; an error then names its month.
 */
async function onWorkers(
  worker: Worker,
  groups: readonly MonthGroup[],
  work: (worker: Worker, group: MonthGroup) => Promise<void>,
): Promise<void> {
  const queue = [...groups]
  const failed: MonthGroup[] = []
  const workers = Array.from({ length: Math.min(LIMITS.workers, queue.length) }, async () => {
    const database = await worker.database.another()
    try {
      const own = await prepare(database, worker.folder)
      for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
        const together = group
        await work(own, together).catch(() => failed.push(together))
      }
    } finally {
      database.close()
    }
  })
  await allOrThrow(workers)
  for (const month of failed.flat()) {
    await withRoom(worker.database, () => work(worker, [month]))
  }
}

async function withRoom<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!/out of memory/i.test(messageOf(error))) throw error
    await database.run(`set memory_limit = '${LIMITS.memoryForHugeRows}'`)
    const result = await work()
    await database.run(`set memory_limit = '${LIMITS.memory}'`)
    return result
  }
}
