import { allOrThrow, mapLimit } from '../lib/concurrency.ts'
import { intervalKey, type Ledger } from '../lake/ledger.ts'
import type { RawFile } from '../lake/layout.ts'
import { isAnalytics } from '../lake/resources.ts'
import { warner } from '../lib/world.ts'
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
} from './base-plan.ts'
import { isIntact, readBaseState, writeBaseState, type BaseFiles } from './state.ts'

/** The existing base files of one organisation, compared with the record of what was written. */
export async function openBase({
  baseIn,
  orgId,
  emit,
}: Pick<NormalizeOptions, 'baseIn' | 'orgId' | 'emit'>): Promise<BaseFiles> {
  const names = BASE_ENTITIES.map(({ name }) => name)
  return readBaseState(baseIn, orgId, names, warner({ emit }, 'damage'))
}

/** An organisation for which base is made. */
export interface BaseOf {
  readonly options: NormalizeOptions
  /** The result of `openBase`, which is kept up to date, and is invalid after an error. */
  readonly base?: BaseFiles | undefined
}

interface Planned extends BaseOf {
  readonly base: BaseFiles
  readonly tasks: readonly BaseTask[]
}

/**
 * Writes the base months of some organisations of one data folder whose raw days changed. Returns
 * how many. Small organisations share statements, because a statement takes longer than their rows.
 */
export async function normalize(
  organisations: readonly BaseOf[],
  engine: BaseEngine,
): Promise<number> {
  const planned = await mapLimit(organisations, AT_ONCE, planOrganisation)
  const due = planned.flatMap((each) => (each === null ? [] : [each]))
  await writeMonths(due, engine)
  await mapLimit(due, AT_ONCE, async ({ options, base }) => {
    if (options.only === undefined) await reportDrift(options, engine, base)
  })
  return due.reduce((sum, { tasks }) => sum + tasks.length, 0)
}

const AT_ONCE = 3

/** Null if damaged files stay in the lake. */
async function planOrganisation({ options, base }: BaseOf): Promise<Planned | null> {
  const present = base ?? (await openBase(options))
  const tasks = await dueMonths(options, present)
  const damaged = await options.findDamaged(sourcesOf(tasks))
  if (damaged === null) return null
  if (damaged.length === 0) return { options, base: present, tasks }
  const verified = { ...options, ledger: without(options.ledger, damaged) }
  return { options: verified, base: present, tasks: await dueMonths(verified, present) }
}

/** The months of each entity whose raw changed. */
async function dueMonths(options: NormalizeOptions, present: BaseFiles): Promise<BaseTask[]> {
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
 * The raw files to read, without duplicates. Drift and restatements read every resource; the
 * current versions of each resource are listed by its own entity.
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

async function writeMonths(planned: readonly Planned[], engine: BaseEngine): Promise<void> {
  const due = planned.filter(({ tasks }) => tasks.length > 0)
  const [first] = due
  if (first === undefined) return
  const baseOf = new Map(due.map(({ options, base }) => [options.orgId, base]))
  const save = (): Promise<unknown> =>
    mapLimit(due, AT_ONCE, ({ options, base }) =>
      writeBaseState(options.baseIn, options.orgId, base),
    )
  const tasks = due.flatMap(({ base, tasks }) =>
    tasks.map((task) => ({ task, isReusable: isIntact(base.get(baseKey(task))) })),
  )
  for (const { task } of tasks) baseOf.get(task.options.orgId)?.delete(baseKey(task))
  await save() // a killed run must not claim these files
  try {
    const months = await engine.use(async ({ database }) => {
      const all = []
      for (const { task, isReusable } of tasks)
        all.push(await monthTask(database, task, isReusable))
      return all
    })
    const groups = await groupsOf(first.options.dataFolder, months)
    await writeGroups(engine, groups, (worker, group) =>
      writeGroup(first.options, worker, group, (task, file) => {
        baseOf
          .get(task.options.orgId)
          ?.set(baseKey(task), { fingerprint: task.fingerprint, ...file })
      }),
    )
  } finally {
    await save()
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
