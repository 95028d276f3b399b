import { messageOf, UsageError } from '../../lib/errors.ts'
import { isObject } from '../../lib/json.ts'
import { kindOf } from '../../lib/text.ts'
import type { HttpHead } from '../../lib/world.ts'
import { sliceEnvelope, sliceWhole, type RowsAt, type ServedRow } from '../json/envelope.ts'
import { BodyError, ContradictionError, shownCursor } from '../errors.ts'
import type { ResponseOrigin, Call, Transport } from './transport.ts'
import { REDACTED } from '../../lib/secrets/known-secrets.ts'

/** One response outside analytics: its value, and its items exactly as served. */
export interface Served<T> extends ResponseOrigin {
  readonly value: T
  /** In the order of the response. */
  readonly items: readonly ServedRow[]
}

/** Where the items of a response are; `whole`: the response is the only item. */
type ItemsAt = RowsAt | 'whole'

/** Sends the calls of one host. */
export interface Caller {
  readonly transport: Transport
  /** Without a trailing slash. */
  readonly baseUrl: string
}

/** A group of endpoints on one host, which may be unknown. */
export abstract class Endpoints<Host extends Caller | null = Caller> {
  protected readonly caller: Host

  constructor(caller: Host) {
    this.caller = caller
  }
}

/** The largest responses are pages of settings, reports and messages. */
const MAX_BYTES = 64 * 1024 * 1024

/** Requests items. @throws BodyError if the response has no items there. */
export function fetchItems<T>(
  { transport, baseUrl }: Caller,
  path: string,
  itemsAt: ItemsAt,
): Promise<Served<T>> {
  return transport.call(callOf(baseUrl, 'GET', path), (response, origin) => {
    const { value, items } = readResponse('GET', origin, DOCUMENTED, response, () =>
      contentOf(utf8().decode(response.body), itemsAt),
    )
    return { value: documented<T>(value), items, ...origin }
  })
}

/** Makes a change and returns the object of the response; otherwise as `sendServed`. */
export async function send<T>(...change: Parameters<typeof sendServed>): Promise<T> {
  return documented<T>((await sendServed(...change)).value)
}

/**
 * Makes a change and returns the object of the response, exactly as served. `body`: JSON text.
 *
 * @throws BodyError if the response is no object.
 */
export function sendServed(
  { transport, baseUrl }: Caller,
  method: Call['method'],
  path: string,
  body?: string,
): Promise<ServedRow> {
  const call = { ...callOf(baseUrl, method, path), body }
  return transport.call(call, (response, origin) =>
    readResponse(method, origin, DOCUMENTED, response, () => {
      const text = utf8().decode(response.body)
      return sliceWhole(text.trim() === '' ? '{}' : text)
    }),
  )
}

const DOCUMENTED = 'response as documented'

/** A decoder that throws for bytes that are not UTF-8. */
export function utf8(): InstanceType<typeof TextDecoder> {
  return new TextDecoder('utf-8', { fatal: true })
}

/**
 * Reads a response that should be `what`.
 *
 * @throws BodyError for whatever `read` throws. It does not quote the body, which may hold secrets.
 */
export function readResponse<T>(
  method: Call['method'],
  { request, requestId }: ResponseOrigin,
  what: string,
  { status, headers, body }: HttpHead & { readonly body: { readonly byteLength: number } },
  read: () => T,
): T {
  try {
    return read()
  } catch (error) {
    const type = headers['content-type'] ?? 'no content type'
    const found = `status ${status} but no ${what} (${type}, ${body.byteLength} bytes)`
    const message = `${method} ${request}: ${found}: ${messageOf(error)}`
    throw new BodyError(message, requestId, { cause: error })
  }
}

/**
 * Fills each `{}` of a path with an id.
 *
 * @throws UsageError for an id that is empty or would lead to another path.
 */
export function pathOf(template: string, ...ids: readonly string[]): string {
  const left = [...ids]
  return template.replaceAll('{}', () => {
    const id = left.shift() ?? ''
    if (id.trim() === '' || id === '.' || id === '..' || LONE_SURROGATE.test(id)) {
      throw new UsageError(`'${id}' is not an id`, { hint: `It would ask for ${template}.` })
    }
    return encodeURIComponent(id)
  })
}

/** Lone surrogates cannot be encoded in a URL. */
const LONE_SURROGATE = /\p{Surrogate}/u

export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | undefined>>,
): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] satisfies [string, string]],
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

function callOf(base: string, method: Call['method'], path: string): Call {
  return { method, base, path, maxBytes: MAX_BYTES }
}

function contentOf(text: string, itemsAt: ItemsAt): Pick<Served<unknown>, 'value' | 'items'> {
  if (itemsAt === 'whole') {
    const item = sliceWhole(text)
    return { value: item.value, items: [item] }
  }
  const { rows: items, rest } = sliceEnvelope(text, itemsAt)
  const values = items.map(({ value }) => value)
  return { items, value: itemsAt === 'array' ? values : { ...Object(rest), [itemsAt.key]: values } }
}

/** The items of a response, whose fields are not checked. @throws BodyError for one that is no object. */
export function objectsOf<T>(items: readonly ServedRow[], origin: ResponseOrigin): T[] {
  return items.map(({ value }, at) => {
    if (isObject(value)) return documented<T>(value)
    const problem = `item ${at + 1} of the response is ${kindOf(value)}, not an object`
    throw new BodyError(`GET ${origin.request}: ${problem}`, origin.requestId)
  })
}

/** The items of pages; of those with one key, the first: a new item moves others to the next page. */
export async function* eachOnce<T>(
  pages: AsyncIterable<Served<unknown>>,
  keyOf: (item: T) => unknown,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<unknown>()
  for await (const page of pages) {
    for (const item of objectsOf<T>(page.items, page)) {
      if (!seen.has(keyOf(item))) yield item
      seen.add(keyOf(item))
    }
  }
}

/** Assumes the documented shape of a response; unknown fields and values pass. */
export function documented<T>(value: unknown): T {
  return value as T
}

/**
 * Pages until one says that it is the last. `nextOf`: the cursor after a page; null if it lacks
 * one, undefined for the last page. `followed`: the cursors of an interrupted pagination, in order;
 * it continues with the last one.
 *
 * @throws ContradictionError for a cursor that is missing, was repeated, or quotes the credential;
 *   its page is not returned.
 */
export async function* eachPage<Page extends ResponseOrigin>(
  ask: (cursor: string | undefined) => Promise<Page>,
  nextOf: (page: Page) => string | null | undefined,
  followed: readonly string[] = [],
): AsyncGenerator<Page, void, undefined> {
  const seen = new Set(followed)
  let cursor = followed.at(-1)
  do {
    const page = await ask(cursor)
    const next = nextOf(page)
    if (next === null) throw contradiction(page, 'there are more pages, but there is no cursor')
    if (next !== undefined && seen.has(next)) {
      const shown = shownCursor(next)
      throw contradiction(page, `the cursor ${shown} was repeated, so the pages would never end`)
    }
    cursor = next === undefined ? undefined : unredacted(next, page)
    if (cursor !== undefined) seen.add(cursor)
    yield page
  } while (cursor !== undefined)
}

/** A cursor as served, which may be a number; null if there is none. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

/** The cursor. @throws ContradictionError if it quotes the credential: then it is not as served. */
export function unredacted(cursor: string, origin: ResponseOrigin): string {
  if (!cursor.includes(REDACTED)) return cursor
  throw contradiction(origin, 'the next cursor quotes the credential and is not followed')
}

/** The error of a response. `problem` names no person and no secret. */
export function contradiction(
  { request, requestId }: ResponseOrigin,
  problem: string,
): ContradictionError {
  return new ContradictionError(`GET ${request}: ${problem}`, requestId)
}
