import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import type { Day } from '../core/days.ts'
import { listLiteral, literal, type Database } from '../store/duckdb.ts'
import { rawFolder } from '../store/lake.ts'
import { statement } from '../store/root.ts'
import { fill } from '../store/template.ts'
import { putBaseFile, type WrittenFile } from './base-file.ts'
import type { BaseTask, NormalizeOptions, SourceFile } from './plan.ts'

const RAW = statement('base_raw')
const RAW_EMPTY = statement('base_raw_empty')
const MACROS = [statement('lake/macros'), statement('base/_macros')].join(';\n')
const WRITE = statement('base_month')
const HELD = statement('base_month_held')
const KEEP = statement('base_month_keep')

/** What the statements need on a connection, once. */
export const PREPARATION = `${RAW_EMPTY};\n${MACROS}`

/** What a base file is made by; a change makes every month of the entity due. */
export function statementOf(entity: string): string {
  return [MACROS, RAW, WRITE, statement(`base/${entity}`)].join('\n')
}

/**
 * Writes one base month, aside and then in place. Days whose version is the one
 * that the file in place was made of are taken from there when it is proven to be
 * whole: a row is made of its own day alone.
 */
export async function writeMonth(
  options: NormalizeOptions,
  database: Database,
  task: BaseTask,
  isWhole: boolean,
): Promise<WrittenFile> {
  const { month, sources } = task
  const entity = task.entity.name
  const madeBy = `sql/base/${entity}.sql`
  return putBaseFile(options, { entity, month, madeBy }, async ({ inPlace, aside }) => {
    const held = isWhole ? await heldVersions(database, inPlace, entity) : new Map<string, string>()
    const isHeld = ({ day, file }: SourceFile): boolean => held.get(day) === file
    const kept = sources.filter(isHeld).map(({ day }) => day)
    const due = sources.filter((source) => !isHeld(source))
    await database.run(rawView(options, due))
    return write(database, aside, selectOf(inPlace, kept, entity), task)
  })
}

const versionsShape = z.record(z.string(), z.string())

/** The versions that the file in place was made of, by day; none where other statements made it. */
async function heldVersions(
  database: Database,
  path: string,
  entity: string,
): Promise<ReadonlyMap<string, string>> {
  const [told] = await database.rows(HELD, { file: path })
  const versions = told?.['versions']
  if (told?.['made_by'] !== digestOf(statementOf(entity)) || typeof versions !== 'string') {
    return new Map()
  }
  return new Map(Object.entries(versionsShape.parse(JSON.parse(versions))))
}

function selectOf(path: string, kept: readonly Day[], entity: string): string {
  const select = statement(`base/${entity}`)
  if (kept.length === 0) return select
  const days = kept.map((day) => `date ${literal(day)}`).join(', ')
  return fill(KEEP, { held: literal(path), days, select })
}

async function write(
  database: Database,
  file: string,
  select: string,
  { entity, sources }: BaseTask,
): Promise<number> {
  const versions = Object.fromEntries(sources.map(({ day, file: name }) => [day, name]))
  const [count] = await database.rows(
    fill(WRITE, {
      select,
      file: literal(file),
      made_by: literal(digestOf(statementOf(entity.name))),
      versions: literal(JSON.stringify(versions)),
    }),
  )
  return Number(count?.['Count'] ?? 0)
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
