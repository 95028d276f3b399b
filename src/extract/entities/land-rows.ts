import { join } from 'node:path'
import type { Day } from '../../lib/days.ts'
import type { EntityResource } from '../../lib/resource-names.ts'
import { AppError } from '../../lib/errors.ts'
import { rawFolder } from '../../lake/layout.ts'
import { readRows } from '../../lake/raw-items.ts'
import { contentOf, type PageOrigin, type RawRow } from '../land/row-lines.ts'
import type { LandingContext } from './context.ts'

/** Tells rows of one day apart. */
export type KeyOf = (row: RawRow) => string

/**
 * Adds rows to a day: a new version of it, in which a new row takes the place of
 * the one with its key, and the others stay as they were landed. The same rows
 * once more make no version.
 *
 * @param last where the last of what was asked comes from, also when it brought nothing.
 */
export async function addToDay(
  context: LandingContext,
  resource: EntityResource,
  day: Day,
  rows: readonly RawRow[],
  keyOf: KeyOf,
  last: PageOrigin,
): Promise<void> {
  const merged = new Map((await rowsOfDay(context, resource, day)).map((row) => [keyOf(row), row]))
  for (const row of rows) {
    const key = keyOf(row)
    if (merged.get(key)?.item !== row.item) merged.set(key, row)
  }
  await landDay(context, resource, day, [...merged.values()], last)
}

/** Lands a day that is what its rows are and nothing else. */
export async function landDay(
  context: LandingContext,
  resource: EntityResource,
  day: Day,
  rows: readonly RawRow[],
  last: PageOrigin,
): Promise<void> {
  const content = contentOf(rows, last)
  const results = await context.writer.land(resource, [{ day, content }])
  const landed = results.map((result) => ({ day, origin: last, result, rowCount: rows.length }))
  await context.recorder.landed(resource, landed)
}

async function rowsOfDay(
  { dataFolder, orgId, recorder }: LandingContext,
  resource: string,
  day: Day,
): Promise<readonly RawRow[]> {
  const file = recorder.interval(resource, day)?.file ?? null
  if (file === null) return []
  const path = join(rawFolder(dataFolder, orgId, resource, day), file)
  const rows = await readRows(path)
  if (rows !== null) return rows
  throw new AppError(`${path} cannot be read, and nothing can be added to its day`, {
    hint: 'agent-warehouse rebuild proves every file and takes damaged ones out of the lake.',
  })
}
