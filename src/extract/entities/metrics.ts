import { fieldOf, ApiError, type Computer } from '../../client/index.ts'
import { asError } from '../../lib/errors.ts'
import { mapLimit } from '../../lib/concurrency.ts'
import { abortsRun } from '../context.ts'
import type { RawRow } from '../../lake/raw-days.ts'
import { Responses, askLake, pathOf, textIn, type EntityContext } from './context.ts'
import { isId } from './session-ids.ts'

const RESOURCE = 'computer_metrics'

/**
 * Fetches the samples of every computer since its last known sample. Skips computers that no
 * longer exist. If a computer fails, the samples of the others still land, and the first error
 * is returned.
 *
 * @param served the computers, where they were fetched in this run.
 * @param from if samples went missing: the time to start from, milliseconds since the epoch.
 */
export async function fetchMetrics(
  context: EntityContext,
  served: readonly Computer[] | undefined,
  from: number | undefined,
): Promise<Error | null> {
  const computers = await computerIds(context, served)
  const known = await knownSamples(context)
  const responses = new Responses(context, RESOURCE)
  const errors: Error[] = []
  /** The platform returns the last known sample again, and those with a later time or none. */
  const isNew = (row: RawRow): boolean => {
    const { last = -Infinity, others } = known.get(computerOf(pathOf(row))) ?? {}
    return from !== undefined || !(timeOf(row) <= last || others?.has(row.item) === true)
  }
  const land = (): Promise<void> =>
    responses.addToDay(keyOf, responses.inOrderOfRequests().filter(isNew))
  const requests = mapLimit(computers, context.concurrency, async (computerId) => {
    try {
      const last = known.get(computerId)?.last
      const start =
        last === undefined ? undefined : new Date(Math.min(last, from ?? last)).toISOString()
      responses.add(await context.client.computers.fetchMetrics(computerId, { start }))
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return
      if (abortsRun(error)) throw error
      errors.push(asError(error))
    }
  })
  await responses.received(requests, land)
  if (errors.length < computers.length || computers.length === 0) await land()
  return errors[0] ?? null
}

/** Ids of the computers fetched in this run, else last landed, else requested now. */
async function computerIds(
  context: EntityContext,
  served: readonly Computer[] | undefined,
): Promise<string[]> {
  if (served !== undefined) return idsOf(served)
  const known = await askLake(context, 'computers', 'known_computers')
  const latest = Math.max(...known.map((row) => Number(row['fetched_ms'])))
  const ids = known.filter((row) => Number(row['fetched_ms']) === latest)
  if (ids.length > 0) return ids.map((row) => textIn(row, 'computer_id'))
  return idsOf((await context.client.computers.fetchAll()).value.computers)
}

/** Computers may lack an id, although one is documented. */
function idsOf(computers: readonly Computer[]): string[] {
  return computers.map((computer) => fieldOf(computer, 'id')).filter(isId)
}

/** The samples in the lake, by computer. */
async function knownSamples(context: EntityContext) {
  const rows = await askLake(context, RESOURCE, 'known_samples')
  return new Map(
    rows.map(({ last_ms, others, ...row }) => {
      /** The time of the last one, milliseconds since the epoch. */
      const last = last_ms == null ? undefined : Number(last_ms)
      /** Samples with a later time, which a wrong clock gave them, or with none: their texts. */
      const later = new Set<unknown>(Array.isArray(others) ? others : [])
      return [computerOf(textIn(row, 'path')), { last, others: later }] as const
    }),
  )
}

/** Milliseconds since the epoch; NaN for a sample without a timestamp. */
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
