import type { Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { SECRETS } from './catalogue.ts'
import { derive, draw, keyOf, uuidOf } from './random.ts'
import { badRequest, notFound, type Env, type Platform } from './requests.ts'
import type { Sessions } from './sessions.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** How long an install of dependencies takes, and a restart. */
const INSTALL_MS = 30_000
const RESTART_MS = 10_000
const LONGEST_NAME = 63

/** A step of the provisioning; its status depends on the time. */
interface Step {
  readonly id: string
  readonly name: string
  readonly startsAt: number
  readonly endsAt: number
  /** The error of a step that fails. */
  readonly error?: string | undefined
  readonly installSessionId?: string
}

/** A computer; its status depends on the time. */
type Computer = Readonly<ReturnType<typeof madeUp>>

interface Cast {
  readonly name: string
  readonly isManaged: boolean
  /** Milliseconds before the platform was started. */
  readonly age: number
  readonly error?: string
}

/** The third is being provisioned when the platform starts, the fourth as well, and will fail. */
const CAST: readonly Cast[] = [
  { name: 'build-farm', isManaged: true, age: 30 * 24 * HOUR },
  { name: "ml workbench / d'été", isManaged: false, age: 9 * 24 * HOUR },
  { name: 'nightly-runner', isManaged: true, age: MINUTE },
  {
    name: 'legacy-mac',
    isManaged: true,
    age: 2 * MINUTE,
    error: `npm ci: 401 with the key ${SECRETS.stepErrorToken}`,
  },
]

/** Adds the computers of the organisation. Their state is in memory. */
export function addComputers(app: Hono<Env>, { seed, now }: Platform, sessions: Sessions): void {
  const api = '/api/v0/computers'
  const began = now()
  const computers = new Map<string, Computer>()
  const put = (computer: Computer): Computer => {
    computers.set(computer.id, computer)
    return computer
  }
  for (const [index, cast] of CAST.entries()) {
    put(madeUp(keyOf(seed, 'computer', index), cast, began - cast.age, sessions))
  }
  const find = (context: Context<Env, `${typeof api}/:id`>): Computer => {
    const id = context.req.param('id')
    const computer = computers.get(id)
    if (computer === undefined) throw notFound('computer', id)
    return computer
  }

  app.get(api, (context) =>
    context.json({ computers: [...computers.values()].map((each) => servedAs(each, now())) }),
  )
  app.get(`${api}/name/:name`, (context) => {
    const name = context.req.param('name')
    const { length } = Array.from(name)
    if (length < 1 || length > LONGEST_NAME) {
      throw badRequest(`the name has ${length} characters, not 1 to ${LONGEST_NAME}`)
    }
    const computer = [...computers.values()].find((each) => each.name === name)
    if (computer === undefined) throw notFound('computer with the name', name)
    return context.json(servedAs(computer, now()))
  })
  app.get(`${api}/:id`, (context) => context.json(servedAs(find(context), now())))
  app.delete(`${api}/:id`, (context) => {
    computers.delete(find(context).id)
    return context.body(null, 204)
  })
  app.post(`${api}/:id/install-deps`, (context) => {
    const computer = find(context)
    const steps = computer.steps.map((step) => installAgain(step, computer, now(), sessions))
    return context.json(servedAs(put({ ...computer, steps }), now()), 202)
  })
  app.post(`${api}/:id/refresh`, (context) =>
    context.json({ configured: find(context).isManaged ? 2 : 1 }),
  )
  app.post(`${api}/:id/restart`, (context) => {
    const computer = find(context)
    if (!computer.isManaged) throw badRequest(`the computer '${computer.id}' is not a managed one`)
    put({ ...computer, restartsUntil: now() + RESTART_MS })
    return context.json({})
  })
  app.get(`${api}/:id/metrics`, (context) => {
    const computer = find(context)
    const start = startOf(context, now())
    return context.json(metricsOf(computer, start, now()))
  })
}

export function computerIds(seed: number): readonly string[] {
  return CAST.map((_, index) => uuidOf(keyOf(seed, 'computer', index)))
}

function installAgain(step: Step, { id }: Computer, at: number, sessions: Sessions): Step {
  if (step.id !== 'install-deps') return step
  if (statusOfStep(step, at) === 'running') {
    const message = `an install session is already running: ${step.installSessionId ?? ''}`
    throw new HTTPException(409, { message })
  }
  return installStep(id, at, sessions)
}

function installStep(computerId: string, startsAt: number, sessions: Sessions): Step {
  return {
    id: 'install-deps',
    name: 'Install the dependencies',
    startsAt,
    endsAt: startsAt + INSTALL_MS,
    installSessionId: sessions.install(computerId, startsAt, INSTALL_MS),
  }
}

function madeUp(key: number, cast: Cast, createdAt: number, sessions: Sessions) {
  const { name, isManaged, error } = cast
  const id = uuidOf(key)
  const [cloned, installed] = [createdAt + MINUTE, createdAt + 3 * MINUTE]
  const steps: readonly Step[] = [
    { id: 'create-host', name: 'Create the host', startsAt: createdAt, endsAt: cloned },
    { id: 'clone-repos', name: 'Clone the repositories', startsAt: cloned, endsAt: installed },
    { ...installStep(id, installed, sessions), error },
  ]
  /** `restartsUntil`: restarting until then; milliseconds. */
  return { id, key, name, isManaged, createdAt, restartsUntil: 0, steps }
}

function servedAs(computer: Computer, now: number): object {
  const { id, key, name, isManaged, createdAt, steps } = computer
  const relay = `relay.acme.example/computers/${id}`
  return {
    id,
    name,
    providerType: isManaged ? 'sandbox-provider' : 'byom',
    createdAt,
    hostId: uuidOf(key + 1),
    hostname: `host-${key.toString(16)}`,
    status: statusOf(computer, now),
    provisioningSteps: steps.map((step) => servedStep(step, now)),
    relayClientUrl: `wss://${relay}/client?token=${SECRETS.relayToken}`,
    relayAgentUrl: `wss://agent:${SECRETS.relayPassword}@${relay}/agent`,
    remoteUser: isManaged ? 'agent' : 'ada',
  }
}

function statusOf({ restartsUntil, steps }: Computer, now: number): string {
  if (now < restartsUntil) return 'provisioning'
  const statuses = steps.map((step) => statusOfStep(step, now))
  if (statuses.includes('failed')) return 'error'
  return statuses.every((status) => status === 'completed') ? 'active' : 'provisioning'
}

function statusOfStep({ startsAt, endsAt, error }: Step, now: number): string {
  if (now < startsAt) return 'pending'
  if (now < endsAt) return 'running'
  return error === undefined ? 'completed' : 'failed'
}

/** Leaves out the fields that are not known yet. */
function servedStep(step: Step, now: number): object {
  const { id, name, startsAt, endsAt, error, installSessionId } = step
  const hasStarted = now >= startsAt
  const hasEnded = now >= endsAt
  return {
    id,
    name,
    status: statusOfStep(step, now),
    error: hasEnded ? error : undefined,
    startedAt: hasStarted ? startsAt : undefined,
    completedAt: hasEnded ? endsAt : undefined,
    installSessionId: hasStarted ? installSessionId : undefined,
  }
}

const EVERY = 5 * MINUTE
/** Samples of the last day are answered without `start`; older ones than these are not kept. */
const RETENTION = 72 * HOUR
const GIB = 1_073_741_824

function startOf(context: Context, now: number): number {
  const text = context.req.query('start')
  if (text === undefined) return now - 24 * HOUR
  const start = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(start)) throw badRequest(`start '${text}' is not an ISO 8601 date-time`)
  return start
}

/** Samples of a computer, every five minutes or so since it is active. */
function metricsOf({ key, steps }: Computer, start: number, now: number): readonly object[] {
  if (steps.some(({ error }) => error !== undefined)) return [] // the computer was never active
  const from = Math.max(start, now - RETENTION, ...steps.map(({ endsAt }) => endsAt))
  const first = Math.floor(from / EVERY)
  const count = Math.max(0, Math.floor(now / EVERY) - first + 1)
  return Array.from({ length: count }, (_, index) => first + index).flatMap((tick) => {
    // a few seconds after the end of each interval
    const at = tick * EVERY + Math.floor(draw(derive(key, tick), 1) * 20_000)
    return at >= from && at <= now ? [sampleOf(derive(key, tick), tick, at)] : []
  })
}

function sampleOf(key: number, tick: number, at: number): object {
  const memTotal = 16 * GIB
  const diskTotal = 200 * GIB
  return {
    timestamp: new Date(at).toISOString(),
    cpuUsedPct: Number((draw(key, 2) * 100).toFixed(2)),
    cpuCount: 8,
    memUsed: Math.floor(memTotal * (0.2 + 0.6 * draw(key, 3))),
    memTotal,
    diskUsed: Math.floor(diskTotal * (0.3 + (tick % 2_000) / 4_000)),
    diskTotal,
  }
}
