import type { ServerResponse } from 'node:http'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { listIfThere } from '../../src/lib/files.ts'
import { sendJson, testServer, testWorld, type TestWorld } from '../support/helpers.ts'
import { readLake } from './platform.ts'

/** A request that the platform received. */
export interface Asked {
  /** The last segment of the path. */
  readonly endpoint: string
  readonly query: URLSearchParams
  readonly day: string
  /** The cursor of `/users`; null for the first page. */
  readonly cursor: string | null
  /** Sends the platform's own response. */
  readonly answer: () => void
}

/** Answers in place of the platform; true when it did, or will. */
export type Disturb = (
  asked: Asked,
  response: ServerResponse,
) => boolean | undefined | Promise<boolean | undefined>

export interface Paged {
  readonly url: string
  /** The requests since `forget`. */
  readonly asked: Asked[]
  readonly forget: () => void
  /** The cursors of `/users` requested since `forget`, in order; '' is a first page. */
  readonly cursors: (day?: string) => string[]
  /** The `n` of every row: changing it restates all of history. */
  n: number
  /** The `n` of the rows of a day, instead. */
  nOf: ((day: string) => number) | undefined
  disturb: Disturb
  /** Advances the clock. */
  readonly pass: (ms: number) => Promise<void>
  /** A clock for one run, each a minute later by default, that moves a millisecond with every request. */
  readonly worldAt: (time?: string) => TestWorld
}

/** The platform's `today` is the 17th: three days of history. */
export const MORNING = '2026-01-17T06:00:00Z'
export const LAST_DAY = '2026-01-16'

/** A small platform of users `u1`, `u2` … on every day, `perPage` a page. */
export async function pagedPlatform(options: {
  readonly users: number
  readonly perPage: number
}): Promise<Paged> {
  const users = Array.from({ length: options.users }, (_, at) => `u${at + 1}`)
  const asked: Asked[] = []
  let runs = 0
  let world: TestWorld | undefined
  let time = (): number => Date.parse(MORNING)
  const n = (day: string): number => paged.nOf?.(day) ?? paged.n
  const respond = (response: ServerResponse, { endpoint, query, cursor }: Asked): void => {
    const first = query.get('startDate') ?? ''
    const headers = { date: new Date(time()).toUTCString(), 'x-request-id': `req-${asked.length}` }
    if (endpoint !== 'users') {
      const data = daysOf(query).map((date) => ({ date, group_key: 'k', n: n(date) }))
      sendJson(response, 200, { data, meta: { org_id: 'o' } }, headers)
      return
    }
    const start = cursor === null ? 0 : users.indexOf(cursor) + 1
    const page = users.slice(start, start + options.perPage)
    const more = start + options.perPage < users.length
    const data = page.map((user) => ({ user_id: user, date: first, sessions: n(first) }))
    const meta = { org_id: 'o', has_more: more, next_cursor: more ? page.at(-1) : null }
    sendJson(response, 200, { data, meta }, headers)
  }
  const { url } = await testServer((request, response) => {
    void world?.sleep(1)
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://platform')
    const mine: Asked = {
      endpoint: pathname.split('/').at(-1) ?? '',
      query,
      day: query.get('startDate') ?? '',
      cursor: query.get('cursor'),
      answer: () => {
        respond(response, mine)
      },
    }
    asked.push(mine)
    void Promise.resolve(paged.disturb(mine, response)).then((isDone) => {
      if (isDone !== true) mine.answer()
    })
  })
  const paged: Paged = {
    url,
    asked,
    n: 1,
    nOf: undefined,
    disturb: () => undefined,
    forget: () => void asked.splice(0),
    cursors: (day) =>
      asked
        .filter((each) => each.endpoint === 'users' && (day === undefined || each.day === day))
        .map(({ cursor }) => cursor ?? ''),
    pass: async (ms) => world?.sleep(ms),
    worldAt: (at) => {
      runs += 1
      const now = testWorld(at === undefined ? Date.parse(MORNING) + runs * 60_000 : Date.parse(at))
      world = now
      time = now.now
      return now
    },
  }
  return paged
}

/** Refuses with a Problem body. */
export function refuse(response: ServerResponse, status: number, title = 'No'): true {
  sendJson(response, status, { title, requestId: 'req-no' }, { date: new Date(0).toUTCString() })
  return true
}

/** Rows of the newest version of a day, as `[user, n, page, ordinal]`. */
export async function usersIn(data: string, day: string): Promise<unknown[]> {
  const folder = join(data, 'lake', 'raw', 'users', 'org=o', `date=${day}`)
  const newest = (await readdir(folder)).sort().at(-1) ?? ''
  const rows = await readLake(
    data,
    `select item ->> 'user_id' as u, (item ->> 'sessions')::int as n, page::int as p, ordinal::int as o
     from read_parquet('${join(folder, newest)}') order by page, ordinal`,
  )
  return rows.map(({ u, n, p, o }) => [u, n, p, o])
}

/** The page buffers in the data folder. */
export async function pageBuffersIn(data: string): Promise<string[]> {
  return (await listIfThere(join(data, 'state', 'parts'))).map(({ name }) => name).sort()
}

function daysOf(query: URLSearchParams): string[] {
  const last = Date.parse(query.get('endDate') ?? '')
  const days: string[] = []
  for (let at = Date.parse(query.get('startDate') ?? ''); at <= last; at += 86_400_000) {
    days.push(new Date(at).toISOString().slice(0, 10))
  }
  return days
}
