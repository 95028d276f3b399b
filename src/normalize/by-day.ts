import { hash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { monthOf, type Day } from '../lib/days.ts'
import { AppError, messageOf } from '../lib/errors.ts'
import { listLiteral, literal, type Database } from '../lib/duckdb.ts'
import type { FileSums } from '../lib/files.ts'
import { baseFile, rawFolder } from '../lake/layout.ts'
import { statement } from '../lib/root.ts'
import { fill } from '../lib/template.ts'
import { putBaseFile } from './base-file.ts'
import { MACROS } from './macros.ts'
import type { BaseState, NormalizeOptions } from './plan.ts'

/** The raw files that the rows of one day are made from, the oldest first. */
export interface DaySource {
  readonly resource: string
  readonly day: Day
  readonly files: readonly string[]
}

/** Days of one resource, few enough to be read at once. Their files are the view `raw`. */
export interface DayBatch {
  readonly orgId: string
  readonly resource: string
  readonly days: readonly DaySource[]
  /** Makes `raw` the files of some of the days. */
  readonly read: (days: readonly DaySource[]) => Promise<void>
}

/**
 * A base entity over every resource whose rows of a day are made from the files
 * of that day alone: of a month only the days are made anew whose files changed.
 */
export interface DayEntity {
  readonly name: string
  /** Makes the temporary table `base_rows`, empty. */
  readonly table: string
  /** Everything else its rows are made by: a change makes every day due. */
  readonly statements: readonly string[]
  readonly sources: (options: NormalizeOptions) => Promise<DaySource[]>
  /** The select of the rows of a batch: `activity_date`, then what follows `made_from`. */
  readonly select: (database: Database, batch: DayBatch) => Promise<string>
}

/** A day and the digest of what its rows are made from. */
interface MadeDay extends DaySource {
  readonly madeFrom: string
}

/** One month of such an entity, to be written. */
export interface DayTask {
  readonly entity: DayEntity
  /** `YYYY-MM`. */
  readonly month: string
  readonly days: readonly MadeDay[]
  /** Of the statements and the files: the same fingerprint makes the same month. */
  readonly fingerprint: string
}

export function dayKey(task: Pick<DayTask, 'entity' | 'month'>): string {
  return `${task.entity.name}/${task.month}`
}

/**
 * The months whose days or statements changed since they were written. Every
 * entity has a file for the first month, and a month without days any more is
 * written empty.
 */
export async function planDays(
  options: NormalizeOptions,
  entity: DayEntity,
  state: BaseState,
): Promise<DayTask[]> {
  const madeBy = digestOf([entity.table, MACROS, RAW, ADD, ...entity.statements])
  const months = new Map<string, MadeDay[]>([[options.firstMonth, []]])
  for (const key of Object.keys(state)) {
    const [name, month = ''] = key.split('/')
    if (name === entity.name) months.set(month, [])
  }
  for (const source of (await entity.sources(options)).sort(byResource)) {
    const { resource, day, files } = source
    const madeFrom = digestOf([madeBy, resource, day, ...files])
    const month = months.get(monthOf(day)) ?? []
    months.set(monthOf(day), month)
    month.push({ ...source, madeFrom })
  }
  return [...months.keys()].sort().flatMap((month) => {
    const days = months.get(month) ?? []
    const fingerprint = digestOf([madeBy, ...days.map(({ madeFrom }) => madeFrom).sort()])
    const task = { entity, month, days, fingerprint }
    return state[dayKey(task)] === fingerprint ? [] : [task]
  })
}

/** Tasks in their order, together where their raw files are few enough to be read at once. */
export function dayGroups(options: NormalizeOptions, tasks: readonly DayTask[]): DayTask[][] {
  return together(
    tasks,
    (a, b) => a.entity === b.entity,
    ({ days }) => bytesOf(options, days),
  )
}

/**
 * Writes months of one entity: the days that are as they were from the files
 * there, the others anew.
 *
 * @throws AppError that names a month; the files of the others may be written.
 */
export async function writeDays(
  options: NormalizeOptions,
  database: Database,
  tasks: readonly DayTask[],
): Promise<Map<DayTask, FileSums>> {
  await makeRows(options, database, tasks)
  const written = new Map<DayTask, FileSums>()
  for (const task of tasks) {
    const { entity, month } = task
    const file = { entity: entity.name, month, madeBy: entity.name }
    const write = async ({ temporary }: { temporary: string }): Promise<number> => {
      const select = fill(MONTH, { month: literal(month) })
      const [count] = await database.rows(fill(WRITE, { select, file: literal(temporary) }))
      return Number(count?.['Count'] ?? 0)
    }
    written.set(task, await putBaseFile(options, file, write))
  }
  return written
}

/** Makes `base_rows` of the months. */
async function makeRows(
  options: NormalizeOptions,
  database: Database,
  tasks: readonly DayTask[],
): Promise<void> {
  const [first] = tasks
  if (first === undefined) return
  const { entity } = first
  try {
    await database.run(entity.table)
    const due: MadeDay[] = []
    for (const task of tasks) {
      const inPlace = baseFile(options.baseIn, options.orgId, entity.name, task.month)
      const kept = await keepDays(database, inPlace, task)
      due.push(...task.days.filter(({ madeFrom }) => !kept.has(madeFrom)))
    }
    const batches = together(
      due.sort(byResource),
      (a, b) => a.resource === b.resource,
      (day) => bytesOf(options, [day]),
    )
    for (const days of batches) await addDays(options, database, entity, days)
  } catch (error) {
    const months = [...new Set([first.month, tasks.at(-1)?.month])].join(' to ')
    throw new AppError(`${entity.name}, month ${months}: ${messageOf(error)}`, { cause: error })
  }
}

const WRITE = statement('base/steps/write')
const RAW = statement('base/steps/raw')
const DAYS = statement('base/steps/days')
const MONTH = statement('base/steps/days_month')
const KEEP = statement('base/steps/days_keep')
const ADD = statement('base/steps/days_add')

/** Of raw files: five to ten times of it are read at once. */
const BYTES_AT_ONCE = 8 * 2 ** 20

/** The name of its file stands in the place of the organisation: a version is told by it. */
const FILE_NAME = String.raw`regexp_extract(filename, '[^/\\]+$')`

/** Takes over the days whose files are the same. A file that cannot be read has none. */
async function keepDays(
  database: Database,
  path: string,
  { days }: DayTask,
): Promise<ReadonlySet<string>> {
  if (!existsSync(path)) return new Set()
  const made = days.map(({ madeFrom }) => madeFrom)
  try {
    await database.run(fill(KEEP, { file: literal(path), made_from: listLiteral(made) }))
  } catch {
    return new Set() // of another version, or damaged: made anew whole
  }
  const kept = await database.table('select distinct made_from from base_rows')
  return new Set(kept.rows.map(String))
}

function byResource(a: DaySource, b: DaySource): number {
  const [first, second] = [`${a.resource}/${a.day}`, `${b.resource}/${b.day}`]
  return first < second ? -1 : 1
}

/** Neighbours in one list as long as they belong together and are few enough. */
function together<T>(
  all: readonly T[],
  belong: (a: T, b: T) => boolean,
  bytesOfOne: (one: T) => number,
): T[][] {
  const lists: T[][] = []
  let bytes = 0
  for (const one of all) {
    const list = lists.at(-1)
    const own = bytesOfOne(one)
    bytes += own
    if (list?.[0] !== undefined && belong(list[0], one) && bytes <= BYTES_AT_ONCE) list.push(one)
    else {
      lists.push([one])
      bytes = own
    }
  }
  return lists
}

function bytesOf({ dataFolder, orgId }: NormalizeOptions, days: readonly DaySource[]): number {
  return filesOf(dataFolder, orgId, days).reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

function filesOf(dataFolder: string, orgId: string, days: readonly DaySource[]): string[] {
  return days.flatMap(({ resource, day, files }) =>
    files.map((name) => join(rawFolder(dataFolder, orgId, resource, day), name)),
  )
}

async function addDays(
  options: NormalizeOptions,
  database: Database,
  entity: DayEntity,
  days: readonly MadeDay[],
): Promise<void> {
  const { dataFolder, orgId } = options
  const resource = days[0]?.resource ?? ''
  const read = async (some: readonly DaySource[]): Promise<void> => {
    const files = listLiteral(filesOf(dataFolder, orgId, some))
    await database.run(fill(RAW, { org_id: FILE_NAME, files }))
  }
  await read(days)
  const rows = days.map(({ day, madeFrom }) => ({ activity_date: day, made_from: madeFrom }))
  await database.rows(DAYS, { rows: JSON.stringify(rows) })
  const select = await entity.select(database, { orgId, resource, days, read })
  const values = { select, org_id: literal(orgId), resource: literal(resource) }
  await database.run(fill(ADD, values))
}

function digestOf(texts: readonly string[]): string {
  return hash('sha256', texts.map((text) => `${text}\n`).join(''))
}
