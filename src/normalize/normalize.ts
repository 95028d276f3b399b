import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { allOrThrow } from '../lib/concurrency.ts'
import { messageOf } from '../lib/errors.ts'
import { Database } from '../lib/duckdb.ts'
import { pathSegment } from '../lib/files.ts'
import { intervalKey, type Ledger } from '../lake/ledger.ts'
import type { RawFile } from '../lake/quarantine.ts'
import { dayGroups, dayKey, planDays, writeDays, type DayTask } from './by-day.ts'
import { reportDrift } from './drift-news.ts'
import { SCHEMA_DRIFT } from './drift.ts'
import { ENTITIES } from './entities.ts'
import { groupsOf, type MonthGroup } from './groups.ts'
import { LIMITS } from './limits.ts'
import { monthTask, PREPARATION, statementOf, writeGroup, type Lane } from './month.ts'
import { baseKey, planBase, type BaseState, type BaseTask, type NormalizeOptions } from './plan.ts'
import { RESTATEMENTS } from './restatements.ts'
import { isWhole, readBaseState, writeBaseState, type BaseFiles } from './state.ts'

/** What is made day by day, beside the base months. */
const DAY_ENTITIES = [RESTATEMENTS, SCHEMA_DRIFT]

/** The base files of one organisation that are there, held against what was written. */
export async function openBase({
  baseIn,
  orgId,
  emit,
}: Pick<NormalizeOptions, 'baseIn' | 'orgId' | 'emit'>): Promise<BaseFiles> {
  const names = [...ENTITIES, ...DAY_ENTITIES].map(({ name }) => name)
  return readBaseState(baseIn, orgId, names, (message) => {
    emit({ type: 'warning', message, about: 'damage' })
  })
}

/**
 * Writes the base months of one organisation whose raw days changed. Returns how
 * many. `base`: what `openBase` told, which is kept up to date; of no use any more
 * when this throws.
 */
export async function normalize(options: NormalizeOptions, base?: BaseFiles): Promise<number> {
  const { ledger, firstMonth, only } = options
  const present = base ?? (await openBase(options))
  const fingerprints = Object.fromEntries(
    [...present].map(([key, { fingerprint }]) => [key, fingerprint]),
  )
  const plan = async (proven: Ledger): Promise<Plan> => {
    const due = planBase(proven, fingerprints, firstMonth, statementOf)
    const months = due.filter(({ entity }) => only?.has(entity.resource) ?? true)
    // entities by days read what is due of every resource, and months are what is proven
    const isAll = months.length === due.length
    const days = isAll ? await planDayEntities({ ...options, ledger: proven }, fingerprints) : []
    return { months, days }
  }
  const whole = await plan(ledger)
  const damaged = await options.takeOutDamaged(sourcesOf(whole))
  if (damaged === null) return 0
  const { months, days } = damaged.length === 0 ? whole : await plan(without(ledger, damaged))
  const count = months.length + days.length
  if (count > 0) await writeMonths(options, months, days, present)
  return count
}

interface Plan {
  readonly months: readonly BaseTask[]
  readonly days: readonly DayTask[]
}

async function planDayEntities(options: NormalizeOptions, state: BaseState): Promise<DayTask[]> {
  const tasks = []
  for (const entity of DAY_ENTITIES) tasks.push(...(await planDays(options, entity, state)))
  return tasks
}

/** Each file once. A current version is read by its month too: of days, the older ones are left. */
function sourcesOf({ months, days }: Plan): RawFile[] {
  const ofDays = days.flatMap((task) =>
    task.days.flatMap(({ resource, day, files }) =>
      files.slice(0, -1).map((file) => ({ resource, day, file })),
    ),
  )
  const sources = [...months.flatMap((task) => task.sources), ...ofDays]
  return [
    ...new Map(sources.map((raw) => [`${raw.resource}/${raw.day}/${raw.file}`, raw])).values(),
  ]
}

/** A day is gone when its current version is; of an older one nothing more is told. */
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
  dayTasks: readonly DayTask[],
  present: BaseFiles,
): Promise<void> {
  const { baseIn, orgId, isLowMemory: isLowMemory, signal } = options
  const before = new Map(present)
  for (const task of tasks) present.delete(baseKey(task))
  for (const task of dayTasks) present.delete(dayKey(task))
  await writeBaseState(baseIn, orgId, present) // of a killed run, nothing is claimed
  const write = async (lane: Lane, group: MonthGroup): Promise<void> =>
    writeGroup(options, lane, group, (task, written) => {
      present.set(baseKey(task), { fingerprint: task.fingerprint, ...written })
    })
  const writeBase = async ({ database, folder }: Lane): Promise<void> => {
    const due = []
    for (const task of tasks) {
      due.push(await monthTask(options, database, task, isWhole(before.get(baseKey(task)))))
    }
    await inLanes({ database, folder }, await groupsOf(options, due), write)
  }
  const writeDayEntities = async ({ database }: Lane): Promise<void> => {
    for (const group of dayGroups(options, dayTasks)) {
      if (signal?.aborted === true) return
      const written = await withRoom(database, () => writeDays(options, database, group))
      for (const [task, file] of written) {
        present.set(dayKey(task), { fingerprint: task.fingerprint, ...file })
      }
    }
    if (dayTasks.some(({ entity }) => entity === SCHEMA_DRIFT)) await reportDrift(options, database)
  }
  try {
    if (isLowMemory) {
      await withDatabase(options, 'base', async (lane) => {
        await writeBase(lane)
        await writeDayEntities(lane)
      })
    } else {
      await allOrThrow([
        withDatabase(options, 'months', writeBase),
        withDatabase(options, 'days', writeDayEntities),
      ])
    }
  } finally {
    await writeBaseState(baseIn, orgId, present)
  }
}

async function withDatabase(
  { dataFolder, orgId, isLowMemory: isLowMemory }: NormalizeOptions,
  name: string,
  work: (lane: Lane) => Promise<void>,
): Promise<void> {
  const tempDirectory = join(dataFolder, 'state', 'spill', pathSegment(orgId), name)
  await mkdir(tempDirectory, { recursive: true })
  const database = await Database.open(':memory:', {
    memoryLimit: LIMITS.memory,
    threads: 1,
    isLowMemory: isLowMemory,
    tempDirectory,
  })
  try {
    await database.run(PREPARATION)
    await work({ database, folder: tempDirectory })
  } finally {
    database.close()
  }
}

/**
 * Does the work for every group, several at once. A group that fails is done month by
 * month in the end, alone and with room for huge rows: what fails then names its month.
 */
async function inLanes(
  { database, folder }: Lane,
  groups: readonly MonthGroup[],
  work: (lane: Lane, group: MonthGroup) => Promise<void>,
): Promise<void> {
  const queue = [...groups]
  const failed: MonthGroup[] = []
  const lanes = Array.from({ length: Math.min(LIMITS.lanes, queue.length) }, async () => {
    const own = await database.another()
    try {
      await own.run(PREPARATION)
      for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
        const together = group
        await work({ database: own, folder }, together).catch(() => failed.push(together))
      }
    } finally {
      own.close()
    }
  })
  await allOrThrow(lanes)
  for (const month of failed.flat()) {
    await withRoom(database, () => work({ database, folder }, [month]))
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

/** The statements that make an entity, by its name; empty for what is no entity of a statement. */
export function makingOf(name: string): string {
  const entity = ENTITIES.find((each) => each.name === name)
  return entity === undefined ? '' : statementOf(entity)
}
