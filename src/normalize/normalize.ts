import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { allOrThrow } from '../core/together.ts'
import { messageOf } from '../core/errors.ts'
import { Database } from '../store/duckdb.ts'
import { intervalKey, type Ledger } from '../store/ledger.ts'
import type { RawFile } from '../store/quarantine.ts'
import { dayKey, planDays, writeDays, type DayTask } from './by-day.ts'
import { SCHEMA_DRIFT } from './drift.ts'
import { ENTITIES } from './entities.ts'
import { PREPARATION, statementOf, writeMonth } from './month.ts'
import { baseKey, planBase, type BaseState, type BaseTask, type NormalizeOptions } from './plan.ts'
import { RESTATEMENTS } from './restatements.ts'
import { isWhole, readBaseState, writeBaseState, type BaseFile } from './state.ts'

/** What is made day by day, beside the base months. */
const DAY_ENTITIES = [RESTATEMENTS, SCHEMA_DRIFT]

/** Writes the base months of one organisation whose raw days changed. Returns how many. */
export async function normalize(options: NormalizeOptions): Promise<number> {
  const { baseIn, orgId, ledger, firstMonth, emit } = options
  const names = [...ENTITIES, ...DAY_ENTITIES].map(({ name }) => name)
  const present = await readBaseState(baseIn, orgId, names, (message) => {
    emit({ type: 'warning', message })
  })
  const fingerprints = Object.fromEntries(
    [...present].map(([key, { fingerprint }]) => [key, fingerprint]),
  )
  const plan = async (proven: Ledger): Promise<Plan> => ({
    months: planBase(proven, fingerprints, firstMonth, ({ name }) => statementOf(name)),
    days: await planDayEntities({ ...options, ledger: proven }, fingerprints),
  })
  const damaged = await options.takeOutDamaged(sourcesOf(await plan(ledger)))
  const { months, days } = await plan(without(ledger, damaged))
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
  present: ReadonlyMap<string, BaseFile>,
): Promise<void> {
  const { baseIn, orgId, isFrugal } = options
  const written = new Map(present)
  for (const task of tasks) written.delete(baseKey(task))
  for (const task of dayTasks) written.delete(dayKey(task))
  await writeBaseState(baseIn, orgId, written) // of a killed run, nothing is claimed
  const writeBase = async (database: Database): Promise<void> => {
    for (const task of tasks) {
      const sha256 = await withRoom(database, () =>
        writeMonth(options, database, task, isWhole(present.get(baseKey(task)))),
      )
      written.set(baseKey(task), { fingerprint: task.fingerprint, sha256 })
    }
  }
  const writeDayEntities = async (database: Database): Promise<void> => {
    for (const task of dayTasks) {
      const sha256 = await withRoom(database, () => writeDays(options, database, task))
      written.set(dayKey(task), { fingerprint: task.fingerprint, sha256 })
    }
  }
  try {
    if (isFrugal) {
      await withDatabase(options, 'base', async (database) => {
        await writeBase(database)
        await writeDayEntities(database)
      })
    } else {
      await allOrThrow([
        withDatabase(options, 'months', writeBase),
        withDatabase(options, 'days', writeDayEntities),
      ])
    }
  } finally {
    await writeBaseState(baseIn, orgId, written)
  }
}

async function withDatabase(
  { dataFolder, isFrugal }: NormalizeOptions,
  name: string,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const tempDirectory = join(dataFolder, 'state', 'spill', name)
  await mkdir(tempDirectory, { recursive: true })
  const database = await Database.open(':memory:', {
    memoryLimit: USUAL_MEMORY,
    threads: 1,
    isFrugal,
    tempDirectory,
  })
  try {
    await database.run(PREPARATION)
    await work(database)
  } finally {
    database.close()
  }
}

/** Enough for any number of rows, and for rows of a few megabytes. */
const USUAL_MEMORY = '256MB'

/** One row of a day can name a hundred thousand people: it is read whole. */
const MEMORY_FOR_HUGE_ROWS = '4GB'

async function withRoom<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!/out of memory/i.test(messageOf(error))) throw error
    await database.run(`set memory_limit = '${MEMORY_FOR_HUGE_ROWS}'`)
    const result = await work()
    await database.run(`set memory_limit = '${USUAL_MEMORY}'`)
    return result
  }
}

/** The statements that make an entity, by its name; empty for what is no entity of a statement. */
export function makingOf(name: string): string {
  return ENTITIES.some((entity) => entity.name === name) ? statementOf(name) : ''
}
