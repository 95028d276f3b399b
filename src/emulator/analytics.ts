import type { Context, Hono } from 'hono'
import { setImmediate } from 'node:timers/promises'
import type { DayRange } from '../lib/days.ts'
import { DAY_RESOURCES, type DayResource } from './day-rows.ts'
import { totalsOf, type DayTotals } from './day-totals.ts'
import { asciiOf, jsonOf, unmarked } from './json.ts'
import { createLru, type Lru } from './lru.ts'
import { openDays, type Organisation } from './people.ts'
import {
  isGrouped,
  placeAfterCursor,
  rangeOf,
  wholeOf,
  type Env,
  type Platform,
} from './requests.ts'
import { userPage } from './user-rows.ts'

const KEPT_DAYS = 400
const KEPT_PAGE_BYTES = 96 * 1_048_576
const JSON_TYPE = { 'content-type': 'application/json' }

/** Adds the analytics. What is kept of answers is bounded, whatever the history. */
export function addAnalytics(app: Hono<Env>, { organisation, now }: Platform): void {
  const api = '/api/v1/analytics'
  /** By the offset of the day: small, however many people there are. */
  const totals = createLru<number, DayTotals>(KEPT_DAYS, () => 1)
  /** By what was asked; asking again is common (a retry, a recheck). */
  const pages = createLru<string, Uint8Array<ArrayBuffer>>(KEPT_PAGE_BYTES, (body) => body.length)
  const rangeIn = (context: Context): DayRange => rangeOf(context, organisation.firstDay, now())

  for (const resource of DAY_RESOURCES) {
    app.get(`${api}/${resource.name}`, (context) => {
      const range = rangeIn(context)
      const rowsOf = isGrouped(context, resource.dimension) ? groupRows(resource) : resource.row
      const chunks = dayChunks(organisation, range, totals, rowsOf)
      return context.body(streamOf(chunks), 200, JSON_TYPE)
    })
  }
  app.get(`${api}/users`, (context) => {
    const range = rangeIn(context)
    isGrouped(context, null)
    const limit = wholeOf(context, 'limit', 1, 100) ?? 20
    const from = placeAfterCursor(context, organisation)
    const key = `${range.first} ${range.last} ${limit} ${from}`
    const body = pages(key, () => userPageBody(organisation, range, limit, from))
    return context.body(body, 200, JSON_TYPE)
  })
}

/** The rows of the grouped form. */
function groupRows({ groups }: DayResource): DayResource['row'] {
  return (totals) => {
    const { day } = totals.workDay
    const rows = groups(totals).map(([group_key, metrics]) =>
      jsonOf({ date: day, group_key, ...metrics }),
    )
    return rows.length === 0 ? [] : [rows.join(',')]
  }
}

function* dayChunks(
  organisation: Organisation,
  range: DayRange,
  totals: Lru<number, DayTotals>,
  rowsOf: DayResource['row'],
): Generator<string> {
  yield '{"data":['
  let isEmpty = true
  for (const workDay of openDays(organisation, range)) {
    let before = isEmpty ? '' : ','
    const ofDay = totals(workDay.offset, () => totalsOf(organisation, workDay))
    for (const piece of rowsOf(ofDay, organisation)) {
      yield before + piece
      before = ''
      isEmpty = false
    }
  }
  yield `],"meta":${metaOf(organisation, range)}}`
}

function userPageBody(
  organisation: Organisation,
  range: DayRange,
  limit: number,
  from: number,
): Uint8Array<ArrayBuffer> {
  const days = openDays(organisation, range)
  const { rows, ...paging } = userPage(organisation, days, limit, from)
  const meta = metaOf(organisation, range, paging)
  return Buffer.from(asciiOf(unmarked(`{"data":[${rows.join(',')}],"meta":${meta}}`)))
}

function metaOf({ id }: Organisation, { first, last }: DayRange, paging: object = {}): string {
  return asciiOf(JSON.stringify({ org_id: id, start_date: first, end_date: last, ...paging }))
}

const ENOUGH_CHARACTERS = 65_536
const ENOUGH_MS = 5

/**
 * Sends chunks as they are wanted, so that a slow reader never makes the platform hold them;
 * between them it answers others.
 */
function streamOf(chunks: Iterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = chunks[Symbol.iterator]()
  return new ReadableStream({
    async pull(controller) {
      await setImmediate()
      const until = performance.now() + ENOUGH_MS
      let text = ''
      do {
        const chunk = iterator.next()
        if (chunk.done === true) {
          controller.enqueue(encoder.encode(text))
          controller.close()
          return
        }
        text += chunk.value
      } while (text.length < ENOUGH_CHARACTERS && performance.now() < until)
      controller.enqueue(encoder.encode(text))
    },
  })
}
