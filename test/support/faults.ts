import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { addDays, daysBetween, parseDay } from '../../src/lib/days.ts'
import { sliceEnvelope } from '../../src/client/json/envelope.ts'
import { MAX_PAGE_SIZE } from '../../src/client/index.ts'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { chanceOf } from './chance.ts'
import { FAULTS, send, type Ask, type Fault, type FaultKind, type Served } from './fault-kinds.ts'
import { listening } from './helpers.ts'
import { standIn } from './stand-in.ts'

/** When a fault strikes. Without `count` and `chance`: always. */
export interface FaultRule {
  readonly kind: FaultKind
  /** The most times that it strikes. */
  readonly count?: number
  /** Drawn for each request, from the seed, the URL, and how often it was requested. */
  readonly chance?: number
  readonly where?: (ask: Ask) => boolean
}

export interface FaultyPlatform {
  readonly url: string
  readonly emulator: Emulator
  /** The faults that struck, in order. */
  readonly struck: readonly { readonly kind: FaultKind; readonly url: string }[]
  /** Every request, in order: path and query. */
  readonly asked: readonly string[]
  /** The rules from now on; each request is struck by the first that applies. */
  readonly strike: (rules: readonly FaultRule[], seed?: number) => void
  /** Changes one count in every row of these days from now on. */
  readonly restate: (days: readonly string[]) => void
}

interface FaultyPlatformOptions {
  /** The platform's clock, milliseconds since the epoch. */
  readonly now: () => number
  readonly users?: number
  readonly seed?: number
  /** The most users on a page, so that a small organisation has several pages too. */
  readonly pageSize?: number
}

/** The stand-in platform behind a server that can damage responses of analytics as networks and proxies do. */
export async function startFaultyPlatform(options: FaultyPlatformOptions): Promise<FaultyPlatform> {
  const { now, users = 12, seed = 1, pageSize = 3 } = options
  const emulator = await standIn({ now, users, seed })
  const struck: { kind: FaultKind; url: string }[] = []
  const asked: string[] = []
  const times = new Map<string, number>()
  let rules: readonly FaultRule[] = []
  let restated: readonly string[] = []
  let used = new Map<FaultRule, number>()
  let drawn = 0

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = request.url ?? '/'
    if (!url.startsWith('/api/v1/analytics/')) {
      send(response, await forward(emulator, url, request, MAX_PAGE_SIZE))
      return
    }
    const nth = (times.get(url) ?? 0) + 1
    times.set(url, nth)
    asked.push(url)
    const ask = askOf(url, nth)
    const served = async (other = url): Promise<Served> => {
      const answer = await forward(emulator, other, request, pageSize)
      return { ...answer, body: withRestated(answer.body, restated) }
    }
    const rule = rules.find((each) => applies(each, ask))
    if (rule === undefined) {
      send(response, await served())
      return
    }
    used.set(rule, (used.get(rule) ?? 0) + 1)
    struck.push({ kind: rule.kind, url })
    const fault: Fault = FAULTS[rule.kind]
    await fault.answer({ ask, response, served, now: now() })
  }
  const applies = (rule: FaultRule, ask: Ask): boolean =>
    (whereOf(rule.kind)?.(ask) ?? true) &&
    (rule.where?.(ask) ?? true) &&
    (used.get(rule) ?? 0) < (rule.count ?? Infinity) &&
    (rule.chance === undefined || chanceOf(drawn, rule.kind, ask.url, ask.nth) < rule.chance)

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    emulator,
    struck,
    asked,
    strike: (next, chanceSeed = 1) => {
      rules = next
      used = new Map()
      times.clear()
      drawn = chanceSeed
    },
    restate: (days) => {
      restated = days
    },
  }
}

/** The requests that a kind of fault can strike; undefined: any. */
export function whereOf(kind: FaultKind): Fault['where'] {
  const fault: Fault = FAULTS[kind]
  return fault.where
}

function askOf(url: string, nth: number): Ask {
  const { pathname, searchParams } = new URL(url, 'http://platform')
  const first = parseDay(searchParams.get('startDate') ?? '', 'startDate')
  const last = parseDay(searchParams.get('endDate') ?? '', 'endDate')
  return {
    endpoint: pathname.split('/').at(-1) ?? '',
    groupBy: searchParams.get('group_by'),
    first,
    last,
    days: daysBetween(first, addDays(last, 1)),
    cursor: searchParams.get('cursor'),
    url,
    nth,
  }
}

async function forward(
  emulator: Emulator,
  url: string,
  request: IncomingMessage,
  pageSize: number,
): Promise<Served> {
  const target = new URL(url, emulator.url)
  if (target.searchParams.has('limit')) target.searchParams.set('limit', String(pageSize))
  const answer = await fetch(target, {
    headers: { authorization: request.headers.authorization ?? '' },
  })
  const headers = Object.fromEntries(answer.headers)
  delete headers['transfer-encoding']
  delete headers['content-length']
  return { status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()) }
}

/** The response with one changed count in every row of the days. */
function withRestated(body: Buffer, days: readonly string[]): Buffer {
  if (days.length === 0 || !body.includes('"data"')) return body
  const { rows } = sliceEnvelope(body.toString('utf8'))
  let text = body.toString('utf8')
  for (const { text: row } of rows) {
    if (!days.some((day) => row.includes(`"date":"${day}"`))) continue
    const corrected = row.replace(/"git_commits":(\d+)(?=[,}])/, (_, count: string) => {
      return `"git_commits":${Number(count) + 1}`
    })
    text = text.replace(row, corrected)
  }
  return Buffer.from(text)
}
