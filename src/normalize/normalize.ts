import { allOrThrow } from '../lib/concurrency.ts'
import { intervalKey, type Ledger } from '../lake/ledger.ts'
import type { RawFile } from '../lake/quarantine.ts'
import { isAnalytics } from '../lake/resources.ts'
import { BASE_ENTITIES } from './base-entities.ts'
import { reportDrift } from './drift-news.ts'
import type { BaseEngine, Worker } from './engine.ts'
import { monthTask, writeGroup } from './month.ts'
import {
  baseKey,
  planBase,
  type BaseTask,
  type NormalizeOptions,
  groupsOf,
  type MonthGroup,
} from './plan.ts'
import { isIntact, readBaseState, writeBaseState, type BaseFiles } from './state.ts'

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
export async function normalize(
  options: NormalizeOptions,
  engine: BaseEngine,
  base?: BaseFiles,
): Promise<number> {
  const { ledger } = options
  const present = base ?? (await openBase(options))
  const planned = await planAll(options, present)
  const damaged = await options.quarantineDamaged(sourcesOf(planned))
  if (damaged === null) return 0
  const verified = { ...options, ledger: without(ledger, damaged) }
  const tasks = damaged.length === 0 ? planned : await planAll(verified, present)
  if (tasks.length > 0) await writeMonths(options, engine, tasks, present)
  if (options.only === undefined) await reportDrift(options, engine, present)
  return tasks.length
}

/** The due files, of the months that are complete. */
async function planAll(options: NormalizeOptions, present: BaseFiles): Promise<BaseTask[]> {
  const state = Object.fromEntries([...present].map(([key, file]) => [key, file.fingerprint]))
  const due = []
  for (const entity of BASE_ENTITIES) due.push(...(await planBase(options, entity, state)))
  const { only } = options
  if (only === undefined) return due
  const isComplete = ({ entity: { resource }, month }: BaseTask): boolean =>
    only.has(month) && (resource === null || isAnalytics(resource))
  return due.filter(isComplete)
}

/**
 * Each file once. Drift and restatements read every resource; their current versions are listed by
 * the resources' own entities.
 */
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
  engine: BaseEngine,
  tasks: readonly BaseTask[],
  present: BaseFiles,
): Promise<void> {
  const { baseIn, orgId } = options
  const before = new Map(present)
  for (const task of tasks) present.delete(baseKey(task))
  await writeBaseState(baseIn, orgId, present) // a killed run must not claim these files
  try {
    const due = await engine.use(async ({ database }) => {
      const months = []
      for (const task of tasks) {
        months.push(await monthTask(options, database, task, isIntact(before.get(baseKey(task)))))
      }
      return months
    })
    await writeGroups(engine, await groupsOf(options, due), (worker, group) =>
      writeGroup(options, worker, group, (task, file) => {
        present.set(baseKey(task), { fingerprint: task.fingerprint, ...file })
      }),
    )
  } finally {
    await writeBaseState(baseIn, orgId, present)
  }
}

/**
 * Processes all groups, several at once. A failed group is repeated month by month at the end,
 * with memory for huge rows; an error then names its month.
 */
async function writeGroups(
  engine: BaseEngine,
  groups: readonly MonthGroup[],
  write: (worker: Worker, group: MonthGroup) => Promise<void>,
): Promise<void> {
  const failed: MonthGroup[] = []
  await allOrThrow(
    groups.map((group) =>
      engine.use((worker) => write(worker, group)).catch(() => failed.push(group)),
    ),
  )
  for (const month of failed.flat()) await engine.useWithRoom((worker) => write(worker, [month]))
}
