import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { allOrThrow, mapLimit } from '../lib/concurrency.ts'
import { listLiteral, literal, type Database, type Row } from '../lib/duckdb.ts'
import { AppError, messageOf } from '../lib/errors.ts'
import { type FileSums, putInPlace, syncedSums, withTemporary } from '../lib/files.ts'
import { grouped } from '../lib/grouped.ts'
import { statement, fill } from '../lib/package.ts'
import { warner } from '../lib/world.ts'
import { baseFile, type RawFile } from '../lake/layout.ts'
import { intervalKey, type Ledger } from '../lake/ledger.ts'
import { isAnalytics } from '../lake/resources.ts'
import { BASE_ENTITIES } from './base-entities.ts'
import {
  baseKey,
  groupsOf,
  monthTask,
  dayKey,
  planBase,
  versionsOf,
  type BaseEntity,
  type BaseTask,
  type EntityRows,
  type MonthGroup,
  type MonthTask,
  type NormalizeOptions,
} from './base-plan.ts'
import { DayBatch, DROP_PARSED, type BaseEngine, type DaySource, type Worker } from './batch.ts'
import type { Fields } from './documented.ts'
import { reportDrift, SCHEMA_DRIFT } from './drift.ts'
import { readBaseState, writeBaseState, type BaseFiles } from './state.ts'

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
    if (options.onlyMonths === undefined) await reportDrift(options, engine, base)
  })
  return due.reduce((sum, { tasks }) => sum + tasks.length, 0)
}

const AT_ONCE = 3

/** Null if damaged files stay in the lake. */
async function planOrganisation({ options, base }: BaseOf): Promise<Planned | null> {
  const present = base ?? (await openBase(options))
  const tasks = dueMonths(options, present)
  const damaged = await options.findDamaged(sourcesOf(tasks))
  if (damaged === null) return null
  if (damaged.length === 0) return { options, base: present, tasks }
  const verified = { ...options, ledger: without(options.ledger, damaged) }
  return { options: verified, base: present, tasks: dueMonths(verified, present) }
}

/** The months of each entity whose raw changed. */
function dueMonths(options: NormalizeOptions, present: BaseFiles): BaseTask[] {
  const due = BASE_ENTITIES.flatMap((entity) => planBase(options, entity, present))
  const { onlyMonths } = options
  if (onlyMonths === undefined) return due
  const isComplete = ({ entity: { resource }, month }: BaseTask): boolean =>
    onlyMonths.has(month) && (resource === null || isAnalytics(resource))
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

/**
 * Writes the months by groups, several at once. A failed group is repeated month by month at the
 * end, with memory for huge rows; an error then names its month.
 */
async function writeMonths(planned: readonly Planned[], engine: BaseEngine): Promise<void> {
  const due = planned.filter(({ tasks }) => tasks.length > 0)
  const [first] = due
  if (first === undefined) return
  const { options } = first // all are of one data folder and one run
  const save = (): Promise<unknown> =>
    mapLimit(due, AT_ONCE, ({ options: { baseIn, orgId }, base }) =>
      writeBaseState(baseIn, orgId, base),
    )
  const months = await engine.use(async ({ database }) => {
    const all = []
    for (const { base, tasks } of due)
      for (const task of tasks) all.push(await monthTask(database, task, base))
    return all
  })
  for (const month of months) month.base.delete(baseKey(month))
  await save() // a killed run must not claim these files
  try {
    const failed: MonthGroup[] = []
    const write = (group: MonthGroup): Promise<unknown> =>
      engine.use((worker) => writeGroup(options, worker, group)).catch(() => failed.push(group))
    await allOrThrow((await groupsOf(options.dataFolder, months)).map(write))
    for (const month of failed.flat())
      await engine.useWithMoreMemory((worker) => writeGroup(options, worker, [month]))
  } finally {
    await save()
  }
}

/**
 * Makes a group's part of its base files, and writes the files that are complete then, each to a
 * temporary file that is renamed. Reads raw once. Rows of a month with several parts wait in
 * Parquet, so that memory depends on the part and not on the month.
 */
async function writeGroup(
  options: Pick<NormalizeOptions, 'dataFolder' | 'signal'>,
  worker: Worker,
  group: MonthGroup,
): Promise<void> {
  const isAborted = (): boolean => options.signal?.aborted === true
  if (isAborted()) return
  const { database } = worker
  // when a group is repeated, some of its files may have been written
  const remaining = group.map((each) => ({
    ...each,
    tasks: each.tasks.filter(({ parts }) => parts.has(each.part)),
  }))
  const made = await makeParts(options, worker, remaining)
  for (const { part, tasks } of remaining) {
    for (const task of tasks) {
      const rows = made.get(task.entity)
      if (rows === undefined) throw new RangeError(`no batch returned rows of ${task.entity.name}`)
      task.parts.set(part, rows)
    }
  }
  const isComplete = ({ parts }: MonthTask): boolean => ![...parts.values()].includes(null)
  const complete = new Set(remaining.flatMap(({ tasks }) => tasks).filter(isComplete))
  const inTurn = new PQueue({ concurrency: 1 }) // the disk syncs a file while the next is written
  await mapLimit(complete, FILES_AT_ONCE, async (task) => {
    if (isAborted()) return
    const write = (sql: string): Promise<Row[]> => inTurn.add(() => database.rows(sql))
    const file = await writeMonth(write, task)
    task.base.set(baseKey(task), { fingerprint: task.fingerprint, ...file })
    await inTurn.add(() => release(database, task))
  })
}

const FILES_AT_ONCE = 3

/** Removes the rows that no other task needs. */
async function release(database: Database, { entity, parts }: MonthTask): Promise<void> {
  for (const rows of new Set(parts.values())) {
    if (rows === null) continue
    rows.readers -= 1
    if (rows.readers > 0) continue
    if (rows.file === null) await database.run(`drop table ${tableOf(entity)}`)
    else await rm(rows.file)
  }
  parts.clear()
}

async function makeParts(
  options: Pick<NormalizeOptions, 'dataFolder'>,
  { database, folder, documented }: Worker,
  group: MonthGroup,
): Promise<Map<BaseEntity, EntityRows>> {
  const resource = group[0]?.resource ?? ''
  const months = [...new Set([group[0]?.month, group.at(-1)?.month])].join(' to ')
  const tasks = new Set(group.flatMap((month) => month.tasks))
  const due = grouped(tasks, ({ entity }) => entity)
  const made = new Map<BaseEntity, EntityRows>()
  const batch = new DayBatch(database, options.dataFolder, {
    resource,
    days: group.flatMap((month) => month.days),
    documented: documented.get(resource) ?? new Map<string, Fields>(),
  })
  await labelErrors(`items of ${resource}`, months, () => batch.parse(due.has(SCHEMA_DRIFT)))
  for (const entity of BASE_ENTITIES.filter((each) => due.has(each))) {
    await labelErrors(entity.errorLabel, months, async () => {
      const select = await entity.prepareAndSelect(batch)
      const own = due.get(entity) ?? []
      // another group may complete a file, on another connection
      if (own.some((task) => task.parts.size > 1)) {
        const file = join(folder, `${entity.name}-${randomUUID()}.parquet`)
        await database.run(fill(statement('base/steps/part'), { select, file: literal(file) }))
        made.set(entity, { file, readers: own.length })
      } else {
        await database.run(`create or replace temp table ${tableOf(entity)} as ${select}`)
        made.set(entity, { file: null, readers: own.length })
      }
    })
  }
  await database.run(DROP_PARSED)
  return made
}

function tableOf({ name }: BaseEntity): string {
  return `made_${name}`
}

function parquet(files: readonly string[]): string {
  return `read_parquet(${listLiteral(files)}, hive_partitioning = false)`
}

/**
 * Writes a base file to a temporary file, renames it, and emits an event.
 *
 * @throws AppError that names the month; the file in place is as it was.
 */
async function writeMonth(
  write: (sql: string) => Promise<Row[]>,
  { options, entity, month, days, reused, due, parts }: MonthTask,
): Promise<FileSums> {
  const { baseIn, orgId, emit } = options
  const inPlace = baseFile(baseIn, orgId, entity.name, month)
  const inOrder = [...parts].sort(([a], [b]) => (a < b ? -1 : 1))
  const files = new Set(inOrder.flatMap(([, rows]) => rows?.file ?? []))
  const made = files.size > 0 ? parquet([...files]) : tableOf(entity)
  const own = `(from ${made} where org_id = ${literal(orgId)})`
  const before = reused.length === 0 ? [] : [daysSql(entity, parquet([inPlace]), reused)]
  const versions = Object.fromEntries(days.map((day) => [dayKey(day), versionsOf(day)]))
  const fields = {
    select: [...before, daysSql(entity, own, due)].join(' union all by name '),
    made_by: literal(entity.statementsDigest()),
    versions: literal(JSON.stringify(versions)),
  }
  return labelErrors(entity.errorLabel, month, () =>
    withTemporary(inPlace, async (temporary) => {
      const [count] = await write(
        fill(statement('base/steps/month'), { ...fields, file: literal(temporary) }),
      )
      const written = await syncedSums(temporary)
      await putInPlace(temporary, inPlace)
      const rows = Number(count?.['Count'] ?? 0)
      emit({ type: 'base.written', orgId, entity: entity.name, month, rows })
      return written
    }),
  )
}

/** The rows of some days in a relation. */
function daysSql({ resource }: BaseEntity, relation: string, days: readonly DaySource[]): string {
  const dates = listLiteral(days.map(({ day }) => day))
  const isOfDays =
    resource === null
      ? `resource || '/' || activity_date in (select unnest(${listLiteral(days.map(dayKey))}))`
      : // compares each day with these few: takes half the time for few rows
        `list_contains(cast(${dates} as date[]), activity_date)`
  return `select * from ${relation} where ${isOfDays}`
}

/** @throws AppError that names the statement and the month. */
async function labelErrors<T>(
  errorLabel: string,
  month: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new AppError(`${errorLabel}, month ${month}: ${messageOf(error)}`, { cause: error })
  }
}
