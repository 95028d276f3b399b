import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Day } from '../lib/days.ts'
import { listLiteral, literal, type Database } from '../lib/duckdb.ts'
import type { FileSums } from '../lib/files.ts'
import { baseFile, rawFolder } from '../lake/layout.ts'
import { statement } from '../lib/root.ts'
import { fill } from '../lib/template.ts'
import { putBaseFile, told } from './base-file.ts'
import type { Entity } from './entities.ts'
import { packed, type MonthGroup, type MonthTask } from './groups.ts'
import { MACROS, parsedSql } from './macros.ts'
import type { BaseTask, NormalizeOptions, SourceFile } from './plan.ts'

const RAW = statement('base/steps/raw')
const RAW_EMPTY = statement('base/steps/raw_empty')
const WRITE = statement('base/steps/month')
const HELD = statement('base/steps/month_held')
const DAYS = statement('base/steps/month_days')
const PART = statement('base/steps/write')

/** What the statements need on a connection, once. */
export const PREPARATION = `${RAW_EMPTY};\n${MACROS}`

/** What a base file is made by; a change makes every month of the entity due. */
export function statementOf({ name, resource }: Entity): string {
  return [MACROS, RAW, parsedSql(resource), WRITE, statement(`base/${name}`)].join('\n')
}

/**
 * What of a base month is to be made. Days whose version is the one that the file
 * in place was made of are taken from there when it is proven to be whole: a row
 * is made of its own day alone.
 */
export async function monthTask(
  { baseIn, orgId }: NormalizeOptions,
  database: Database,
  task: BaseTask,
  isWhole: boolean,
): Promise<MonthTask> {
  const { entity, month, sources } = task
  const path = baseFile(baseIn, orgId, entity.name, month)
  const held = isWhole ? await heldVersions(database, path, entity) : new Map<string, string>()
  const isHeld = ({ day, file }: SourceFile): boolean => held.get(day) === file
  return {
    ...task,
    kept: sources.filter(isHeld).map(({ day }) => day),
    due: sources.filter((source) => !isHeld(source)),
  }
}

const versionsShape = z.record(z.string(), z.string())

/** The versions that the file in place was made of, by day; none where other statements made it. */
async function heldVersions(
  database: Database,
  path: string,
  entity: Entity,
): Promise<ReadonlyMap<string, string>> {
  const [said] = await database.rows(HELD, { file: path })
  const versions = said?.['versions']
  if (said?.['made_by'] !== digestOf(statementOf(entity)) || typeof versions !== 'string') {
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
 * Writes the base files of a group, each aside and then in place, and tells of each.
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
  const parts = await mkdtemp(join(folder, 'made-'))
  try {
    await makeParts(options, { database, folder: parts }, group)
    for (const task of group.flatMap(({ tasks }) => tasks)) {
      if (isAborted()) return
      written(task, await writeMonth(options, { database, folder: parts }, task))
    }
  } finally {
    await rm(parts, { recursive: true, force: true })
  }
}

async function makeParts(
  options: NormalizeOptions,
  { database, folder }: Lane,
  group: MonthGroup,
): Promise<void> {
  const resource = group[0]?.resource ?? ''
  const months = [...new Set([group[0]?.month, group.at(-1)?.month])].join(' to ')
  const entities = new Set(group.flatMap(({ tasks }) => tasks.map(({ entity }) => entity.name)))
  const batches = packed(group.flatMap(({ files }) => files))
  for (const [index, files] of (batches.length === 0 ? [[]] : batches).entries()) {
    await told(`sql/base/items/${resource}.sql`, months, async () => {
      await database.run(rawView(options, files))
      await database.run(parsedSql(resource))
    })
    for (const entity of entities) {
      const file = literal(join(folder, `${entity}-${String(index).padStart(6, '0')}.parquet`))
      const select = statement(`base/${entity}`)
      await told(madeBy(entity), months, () => database.run(fill(PART, { select, file })))
    }
  }
  await database.run('drop table parsed')
}

async function writeMonth(
  options: NormalizeOptions,
  { database, folder }: Lane,
  task: MonthTask,
): Promise<FileSums> {
  const { entity, month, sources, kept, due } = task
  const versions = Object.fromEntries(sources.map(({ day, file }) => [day, file]))
  const file = { entity: entity.name, month, madeBy: madeBy(entity.name) }
  return putBaseFile(options, file, async ({ inPlace, temporary }) => {
    const made = daysSql(
      join(folder, `${entity.name}-*.parquet`),
      due.map(({ day }) => day),
    )
    const select = kept.length === 0 ? made : `${daysSql(inPlace, kept)} union all by name ${made}`
    const [count] = await database.rows(
      fill(WRITE, {
        select,
        file: literal(temporary),
        made_by: literal(digestOf(statementOf(entity))),
        versions: literal(JSON.stringify(versions)),
      }),
    )
    return Number(count?.['Count'] ?? 0)
  })
}

function daysSql(files: string, days: readonly Day[]): string {
  return fill(DAYS, { files: literal(files), days: listLiteral(days) })
}

function madeBy(entity: string): string {
  return `sql/base/${entity}.sql`
}

function rawView({ dataFolder, orgId }: NormalizeOptions, sources: readonly SourceFile[]): string {
  if (sources.length === 0) return RAW_EMPTY
  const files = sources.map(({ resource, day, file }) =>
    join(rawFolder(dataFolder, orgId, resource, day), file),
  )
  return fill(RAW, { org_id: literal(orgId), files: listLiteral(files) })
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
