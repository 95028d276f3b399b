import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { listLiteral, literal, type Database } from '../lib/duckdb.ts'
import type { FileSums } from '../lib/files.ts'
import { baseFile } from '../lake/layout.ts'
import { statement, fill } from '../lib/package.ts'
import { putBaseFile, withPlace } from './base-file.ts'
import { BASE_ENTITIES } from './base-entities.ts'
import { DayBatch, RAW_EMPTY, type DaySource } from './batch.ts'
import { EXPECTED } from './drift.ts'
import { packed, resourcesOf, type MonthGroup, type MonthTask } from './groups.ts'
import { MACROS } from './macros.ts'
import {
  digestOf,
  placeOf,
  versionsOf,
  type BaseEntity,
  type BaseTask,
  type NormalizeOptions,
} from './plan.ts'

const WRITE = statement('base/steps/month')
const VERSIONS = statement('base/steps/month_versions')
const DAYS = statement('base/steps/month_days')
const PART = statement('base/steps/write')
const NOT_PARSED = 'drop table if exists parsed'

/** What the statements need on a connection, once. */
export const PREPARATION = `${RAW_EMPTY};\n${MACROS};\n${EXPECTED}`

/**
 * What of a base month is to be made. Days whose versions are those that the file
 * in place was made of are taken from there when it is proven to be whole: a row
 * is made of its own day alone.
 */
export async function monthTask(
  { baseIn, orgId }: NormalizeOptions,
  database: Database,
  task: BaseTask,
  isWhole: boolean,
): Promise<MonthTask> {
  const { entity, month, days } = task
  const path = baseFile(baseIn, orgId, entity.name, month)
  const versions = isWhole
    ? await writtenVersions(database, path, entity)
    : new Map<string, string>()
  const isAsWritten = (day: DaySource): boolean => versions.get(placeOf(day)) === versionsOf(day)
  return {
    ...task,
    kept: days.filter(isAsWritten),
    due: days.filter((day) => !isAsWritten(day)),
    parts: new Map<string, readonly string[]>(),
  }
}

const versionsShape = z.record(z.string(), z.string())

/** The versions that the file in place was made of, by day; none where other statements made it. */
async function writtenVersions(
  database: Database,
  path: string,
  entity: BaseEntity,
): Promise<ReadonlyMap<string, string>> {
  const [said] = await database.rows(VERSIONS, { file: path })
  const versions = said?.['versions']
  if (said?.['made_by'] !== makerOf(entity) || typeof versions !== 'string') {
    return new Map()
  }
  return new Map(Object.entries(versionsShape.parse(JSON.parse(versions))))
}

/** The connection of a lane, and where it keeps what it has made so far. */
export interface Lane {
  readonly database: Database
  readonly folder: string
}

/**
 * Makes what a group has of its base files, and writes those that lack nothing any
 * more, each to a temporary file and then in place; `written` is called for each.
 * Raw is read once, a batch at a time; what the entities make of a batch waits in
 * Parquet, so that memory is that of a batch however large a month is.
 */
export async function writeGroup(
  options: NormalizeOptions,
  { database, folder }: Lane,
  group: MonthGroup,
  written: (task: MonthTask, file: FileSums) => void,
): Promise<void> {
  const isAborted = (): boolean => options.signal?.aborted === true
  if (isAborted()) return
  const made = await makeParts(options, { database, folder }, group)
  for (const { resource, tasks } of group) {
    for (const task of tasks) {
      if (isAborted()) return
      task.parts.set(resource, made.get(task.entity) ?? [])
      if (task.parts.size < resourcesOf(task).size) continue
      written(task, await writeMonth(options, database, task))
    }
  }
  for (const [entity, files] of made) {
    if (entity.resource !== null) await Promise.all(files.map((file) => rm(file)))
  }
}

/** The files that hold what each entity makes of the days that are due. */
async function makeParts(
  options: NormalizeOptions,
  { database, folder }: Lane,
  group: MonthGroup,
): Promise<Map<BaseEntity, string[]>> {
  const resource = group[0]?.resource ?? ''
  const months = [...new Set([group[0]?.month, group.at(-1)?.month])].join(' to ')
  const due = new Set(group.flatMap(({ tasks }) => tasks.map(({ entity }) => entity)))
  const entities = BASE_ENTITIES.filter((entity) => due.has(entity))
  const parts = await mkdtemp(join(folder, 'made-'))
  const made = new Map(entities.map((entity) => [entity, [] as string[]]))
  const makePart = async (entity: BaseEntity, batch: DayBatch): Promise<void> => {
    const files = made.get(entity) ?? []
    const file = join(parts, `${entity.name}-${String(files.length).padStart(6, '0')}.parquet`)
    await withPlace(entity.madeBy, months, async () => {
      const select = await entity.select(database, batch)
      await database.run(fill(PART, { select, file: literal(file) }))
    })
    files.push(file)
  }
  const all = group.flatMap(({ days }) => days)
  const ofParsed = entities.filter(({ isOfParsed }) => isOfParsed)
  const batches = ofParsed.length === 0 ? [] : packed(all)
  for (const days of batches.length === 0 ? [[]] : batches) {
    const batch = new DayBatch(database, options, resource, days)
    if (resource !== '' && ofParsed.length > 0)
      await withPlace(`sql/base/items/${resource}.sql`, months, () => batch.parse())
    for (const entity of ofParsed) await makePart(entity, batch)
  }
  await database.run(NOT_PARSED)
  // a statement of 60 ms whatever its rows: once for the group
  const whole = new DayBatch(database, options, resource, all)
  for (const entity of entities) if (!entity.isOfParsed) await makePart(entity, whole)
  return made
}

async function writeMonth(
  options: NormalizeOptions,
  database: Database,
  task: MonthTask,
): Promise<FileSums> {
  const { entity, month, days, kept, due, parts } = task
  const versions = Object.fromEntries(days.map((day) => [placeOf(day), versionsOf(day)]))
  const file = { entity: entity.name, month, madeBy: entity.madeBy }
  return putBaseFile(options, file, async ({ inPlace, temporary }) => {
    const inOrder = [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, files]) => files)
    const made = daysSql(entity, inOrder, due)
    const select =
      kept.length === 0 ? made : `${daysSql(entity, [inPlace], kept)} union all by name ${made}`
    const [count] = await database.rows(
      fill(WRITE, {
        select,
        file: literal(temporary),
        made_by: literal(makerOf(entity)),
        versions: literal(JSON.stringify(versions)),
      }),
    )
    return Number(count?.['Count'] ?? 0)
  })
}

/** The rows of some days in files that hold more. */
function daysSql({ resource }: BaseEntity, files: string[], days: readonly DaySource[]): string {
  return fill(DAYS, {
    files: listLiteral(files),
    ...(resource === null
      ? { day: "resource || '/' || activity_date", days: listLiteral(days.map(placeOf)) }
      : {
          day: 'activity_date',
          days: `cast(${listLiteral(days.map(({ day }) => day))} as date[])`,
        }),
  })
}

/** What tells the statements of an entity from others. */
function makerOf(entity: BaseEntity): string {
  return digestOf([entity.statements()])
}
