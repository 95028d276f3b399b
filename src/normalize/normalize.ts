import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, messageOf } from '../core/errors.ts'
import { Database, listLiteral, literal } from '../store/duckdb.ts'
import { asidePath, settle, sha256OfFile } from '../store/files.ts'
import { baseFile, rawFolder } from '../store/lake.ts'
import { intervalKey, type Ledger } from '../store/ledger.ts'
import type { RawFile } from '../store/quarantine.ts'
import { statement } from '../store/root.ts'
import { fill } from '../store/template.ts'
import { dayKey, planDays, writeDays, type DayTask } from './by-day.ts'
import { SCHEMA_DRIFT } from './drift.ts'
import { ENTITIES, type Entity } from './entities.ts'
import { baseKey, planBase, type BaseState, type BaseTask, type NormalizeOptions } from './plan.ts'
import { RESTATEMENTS } from './restatements.ts'
import { readBaseState, writeBaseState, type BaseFile } from './state.ts'

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
    months: planBase(proven, fingerprints, firstMonth, statementOf),
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
  const { dataFolder, baseIn, orgId } = options
  const written = new Map(present)
  for (const task of tasks) written.delete(baseKey(task))
  for (const task of dayTasks) written.delete(dayKey(task))
  await writeBaseState(baseIn, orgId, written) // of a killed run, nothing is claimed
  const database = await Database.open(':memory:', {
    memoryLimit: USUAL_MEMORY,
    threads: 2,
    isFrugal: true,
    tempDirectory: join(dataFolder, 'state', 'spill'),
  })
  try {
    await database.run(`${RAW_EMPTY};\n${MACROS}`)
    for (const task of tasks) {
      const sha256 = await withRoom(database, () => writeMonth(options, database, task))
      written.set(baseKey(task), { fingerprint: task.fingerprint, sha256 })
    }
    for (const task of dayTasks) {
      const sha256 = await withRoom(database, () => writeDays(options, database, task))
      written.set(dayKey(task), { fingerprint: task.fingerprint, sha256 })
    }
  } finally {
    await writeBaseState(baseIn, orgId, written)
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

async function writeMonth(
  options: NormalizeOptions,
  database: Database,
  task: BaseTask,
): Promise<string> {
  const { dataFolder, baseIn, orgId, emit } = options
  const path = baseFile(baseIn, orgId, task.entity.name, task.month)
  const aside = asidePath(path)
  await mkdir(dirname(path), { recursive: true })
  try {
    await database.run(rawView(dataFolder, orgId, task))
    const select = statement(`base/${task.entity.name}`)
    const [count] = await database.rows(fill(WRITE, { select, file: literal(aside) }))
    const sha256 = await sha256OfFile(aside)
    await settle(aside, path)
    const rows = Number(count?.['Count'] ?? 0)
    emit({ type: 'base.written', orgId, entity: task.entity.name, month: task.month, rows })
    return sha256
  } catch (error) {
    await rm(aside, { force: true })
    throw new AppError(
      `sql/base/${task.entity.name}.sql, month ${task.month}: ${messageOf(error)}`,
      { cause: error },
    )
  }
}

const WRITE = statement('base_write')
const RAW = statement('base_raw')
const RAW_EMPTY = statement('base_raw_empty')
const MACROS = statement('base/_macros')

function rawView(dataFolder: string, orgId: string, task: BaseTask): string {
  if (task.sources.length === 0) return RAW_EMPTY
  const files = task.sources.map(({ resource, day, file }) =>
    join(rawFolder(dataFolder, orgId, resource, day), file),
  )
  return fill(RAW, { org_id: literal(orgId), files: listLiteral(files) })
}

/** What a base file is made by; a change makes every month of the entity due. */
function statementOf({ name }: Pick<Entity, 'name'>): string {
  return [MACROS, RAW, WRITE, statement(`base/${name}`)].join('\n')
}

/** The statements that make an entity, by its name; empty for what is no entity of a statement. */
export function makingOf(name: string): string {
  return ENTITIES.some((entity) => entity.name === name) ? statementOf({ name }) : ''
}
