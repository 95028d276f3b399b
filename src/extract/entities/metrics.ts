import { fieldOf, ApiError, type Computer } from '../../client/index.ts'
import { asError } from '../../lib/errors.ts'
import { abortsRun } from '../fetch/failures.ts'
import type { RawRow } from '../land/row-lines.ts'
import { Answers, pathOf, type EntityContext } from './context.ts'
import { askLake, textIn } from './known.ts'
import { isId } from './session-ids.ts'

const RESOURCE = 'computer_metrics'

/**
 * The samples of every computer from its last known one on. A computer that is
 * gone by now is no failure. One that is not available keeps the others' samples:
 * they land, and the first error is returned.
 *
 * @param served the computers, where they were fetched in this run.
 * @param from where samples are missing: the time to ask from again, milliseconds since the epoch.
 */
export async function fetchMetrics(
  context: EntityContext,
  served: readonly Computer[] | undefined,
  from: number | undefined,
): Promise<Error | null> {
  const computers = await computerIds(context, served)
  const lastOf = await lastSamples(context)
  const answers = new Answers(context, RESOURCE)
  const errors: Error[] = []
  await context.forEach(computers, async (computerId) => {
    try {
      const since = earliest(lastOf.get(computerId), from)
      answers.add(await context.client.computers.fetchMetrics(computerId, startOf(since)))
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return
      if (abortsRun(error)) throw error
      errors.push(asError(error))
    }
  })
  /** The last known sample is served once more, and is no new one. */
  const isNew = (row: RawRow): boolean =>
    from !== undefined || !(timeOf(row) <= (lastOf.get(computerOf(pathOf(row))) ?? -Infinity))
  if (errors.length < computers.length || computers.length === 0)
    await answers.addToDay(keyOf, answers.inOrderOfRequests().filter(isNew))
  return errors[0] ?? null
}

/** Of the list that was fetched in this run, else of the last that landed; where none did, it is asked for. */
async function computerIds(
  context: EntityContext,
  served: readonly Computer[] | undefined,
): Promise<string[]> {
  if (served !== undefined) return idsOf(served)
  const known = await askLake(context, 'computers', 'known_computers')
  const latest = Math.max(...known.map((row) => Number(row['fetched_ms'])))
  const ids = known.filter((row) => Number(row['fetched_ms']) === latest)
  if (ids.length > 0) return ids.map((row) => textIn(row, 'computer_id'))
  return idsOf(await context.client.computers.list())
}

/** What is served may lack an id, whatever is documented. */
function idsOf(computers: readonly Computer[]): string[] {
  return computers.map((computer) => fieldOf(computer, 'id')).filter(isId)
}

/** Milliseconds since the epoch, by computer. */
async function lastSamples(context: EntityContext): Promise<ReadonlyMap<string, number>> {
  const rows = await askLake(context, RESOURCE, 'known_samples')
  return new Map(
    rows.flatMap((row) =>
      row['last_ms'] === null ? [] : [[computerOf(textIn(row, 'path')), Number(row['last_ms'])]],
    ),
  )
}

function earliest(last: number | undefined, from: number | undefined): number | undefined {
  if (last === undefined || from === undefined) return last
  return Math.min(last, from)
}

function startOf(since: number | undefined): { start?: string } {
  return since === undefined ? {} : { start: new Date(since).toISOString() }
}

/** Milliseconds since the epoch; NaN for a sample that does not say. */
function timeOf({ item }: RawRow): number {
  const time = fieldOf(JSON.parse(item), 'timestamp')
  if (typeof time !== 'string') return NaN
  return Date.parse(/(?:[zZ]|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`)
}

function keyOf(row: RawRow): string {
  const time = timeOf(row)
  return `${pathOf(row)} ${Number.isNaN(time) ? row.item : String(time)}`
}

function computerOf(path: string): string {
  return decodeURIComponent(/\/computers\/([^/]+)/.exec(path)?.[1] ?? '')
}
