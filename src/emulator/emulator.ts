import { getRequestListener } from '@hono/node-server'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'

import { HISTORY_START, parseDay } from '../lib/days.ts'
import { messageOf, UsageError } from '../lib/errors.ts'
import { checkAboveZero, checkWhole } from '../lib/numbers.ts'
import { keysOf, organisationOf } from './admission.ts'
import { createApp, type Intercept, type RequestRecord } from './app.ts'
import { remembered } from './day-totals.ts'
import { createOrganisation, type PlantedAnomaly } from './people.ts'
import type { Host } from './requests.ts'

export { DEFAULT_KEYS, type Keys, type Role } from './admission.ts'
export type { Intercept, InterceptedRequest, RequestRecord } from './app.ts'
export { landmarkOf } from './calendar.ts'
export { DEMO_SECRETS } from './catalogue.ts'
export type { PlantedAnomaly } from './people.ts'
export type { Host } from './requests.ts'

export interface EmulatorOptions {
  /** The port of the public API host. @default 0, a free port */
  readonly port?: number
  /** The port of the web application host. @default 0, a free port */
  readonly appPort?: number
  /** The number of people who are ever in the organisation. @default 40 */
  readonly users?: number
  /** Whether every day with data has a row of each person. @default false */
  readonly areSteady?: boolean
  /** Another seed is another organisation. @default 1 */
  readonly seed?: number
  /** The first day of the history, `YYYY-MM-DD`. @default '2026-01-14' */
  readonly firstDay?: string
  /** Days that differ from the others on purpose, in every organisation. @default none */
  readonly anomalies?: readonly PlantedAnomaly[]
  /** Milliseconds since the epoch. Its UTC day is the platform's today. */
  readonly now: () => number
  /** Requests per second of a credential, by the clock `now`. @default no limit */
  readonly rate?: number | undefined
  /** Requests at once after a rest. @default `rate`, at least 1 */
  readonly burst?: number | undefined
  /** @default 'org_demo' */
  readonly orgId?: string
  /**
   * The number of organisations, all of the same size; the key selects one. The ids of all but the
   * first end with their number, and their seeds follow the first one's. @default 1
   */
  readonly organisations?: number
  /** Whether sessions may be interrupted: selected organisations only. @default true */
  readonly interrupt?: boolean
  /** Faults for tests. */
  readonly intercept?: Intercept
  /** How many of the last requests `requests` remembers. @default 1000 */
  readonly remember?: number
}

export type Emulator = Readonly<Awaited<ReturnType<typeof startEmulator>>>

const HOST = '127.0.0.1'

/** They take a gigabyte and a half of memory, and half a minute to make. */
const MOST_USERS = 1_000_000

/**
 * Serves the stand-in platform: every endpoint, for a made-up organisation, on two
 * hosts like the platform. Each answers 404 to a path of the other.
 * A day's data is a pure function of the seed, the number of users, the first day
 * and the planted anomalies; changes by requests are in memory until `close`.
 * @throws UsageError for an option out of its range, by its name in `emulate`, or a used port.
 */
export async function startEmulator(options: EmulatorOptions) {
  const { now, orgId = 'org_demo', areSteady = false, anomalies = [] } = options
  const { rate, interrupt: canInterrupt = true, intercept = () => undefined } = options
  const seed = checkWhole('--seed', options.seed ?? 1, 0)
  const users = checkWhole('--users', options.users ?? 40, 1, MOST_USERS)
  const firstDay = parseDay(options.firstDay ?? HISTORY_START, 'the first day of the platform')
  const people = { users, areSteady, anomalies, firstDay }
  const organisations = checkWhole('--organisations', options.organisations ?? 1, 1, 100_000)
  const burst = checkWhole('--burst', options.burst ?? Math.max(1, Math.ceil(rate ?? 1)), 1)
  const limit = rate === undefined ? null : { rate: checkAboveZero('--rate', rate), burst, now }
  const remember = checkWhole('remember', options.remember ?? 1_000, 0)
  const requests: RequestRecord[] = []
  const record = (request: RequestRecord): void => {
    requests.push(request)
    if (requests.length > remember) requests.shift()
  }
  /** The platform of an organisation, made when it is first asked. */
  const platformOf = remembered((number: number) => {
    const own = seed + number - 1
    const id = number === 1 ? orgId : `${orgId}_${number}`
    const organisation = createOrganisation({ ...people, id, seed: own })
    const platform = { organisation, seed: own, now, canInterrupt }
    return { organisation, ...createApp({ ...platform, limit, intercept, record }) }
  })
  const first = platformOf(1)
  const servers: Server[] = []
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(stop))
  }
  const serve = async (host: Host, name: string, port = 0): Promise<string> => {
    const answer = getRequestListener((request) => {
      const named = organisationOf(request.headers.get('authorization'))
      const organisation = named >= 1 && named <= organisations ? named : 1
      return platformOf(organisation).app.fetch(request, { host, organisation })
    })
    const server = createServer((request, response) => void answer(request, response))
    const taken = await listen(server, checkWhole(name, port, 0, 65_535))
    servers.push(server)
    return `http://${HOST}:${taken}`
  }
  const url = await serve('api', '--port', options.port)
  const appUrl = await serve('app', '--app-port', options.appPort).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    /** The address of the public API host. */
    url,
    /** The address of the web application host, which has the readiness reports. */
    appUrl,
    keys: keysOf(1),
    /** The keys of an organisation, counted from 1. */
    keysOf,
    /** The last requests, oldest first. */
    requests,
    /** Everyone who is ever in the organisation, with the first e-mail address. */
    members: first.organisation.people.map(({ id: userId, email, team: { name: team } }) => {
      return { userId, email, team }
    }),
    /** The ids of all sessions; no endpoint lists them. */
    sessionIds: first.sessions.ids,
    /** The messages of a session; no endpoint lists them. */
    messageIds: first.sessions.messageIds,
    /** Stops both hosts and drops open connections. */
    close,
  }
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    await once(server.listen(port, HOST), 'listening')
  } catch (cause) {
    const hint = 'Choose another port, or 0 for a free one.'
    throw new UsageError(`cannot listen on ${HOST}:${port}: ${messageOf(cause)}`, { hint, cause })
  }
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

async function stop(server: Server): Promise<void> {
  if (!server.listening) return // already stopped
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}
