import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { STATUS_CODES } from 'node:http'
import {
  createLimiter,
  mustBeKnown,
  mustManage,
  roleOf,
  type RateLimit,
  type Role,
} from './admission.ts'
import { addAnalytics } from './analytics.ts'
import { addComputers, computerIds } from './computers.ts'
import { addControls } from './controls.ts'
import { addReadiness } from './readiness.ts'
import type { Env, Host, Platform } from './requests.ts'
import { addSessions, type Sessions } from './sessions.ts'
import { addUsageLimits } from './usage-limits.ts'

export interface InterceptedRequest {
  readonly host: Host
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** 1 for the first request of this platform. */
  readonly number: number
  readonly method: string
  readonly headers: Headers
  /** Returns the platform's own response, which the test can change. */
  readonly answer: () => Promise<Response>
}

/** Answers instead of the platform; for `undefined`, the platform answers. */
export type Intercept = (
  request: InterceptedRequest,
) => Response | undefined | Promise<Response | undefined>

export interface RequestRecord extends Pick<InterceptedRequest, 'host' | 'number' | 'method'> {
  /** With the query. */
  readonly path: string
  readonly status: number
  /** The role of the credential; null if it was missing or unknown. */
  readonly role: Role | null
}

export interface AppOptions extends Platform {
  readonly limit: RateLimit | null
  readonly intercept: Intercept
  readonly record: (request: RequestRecord) => void
}

/** The routes of the stand-in platform. Every response carries `date` and `x-request-id`. */
export function createApp(options: AppOptions): { app: Hono<Env>; sessions: Sessions } {
  const app = new Hono<Env>()
  let served = 0

  app.use(async (context, next) => {
    const number = (served += 1)
    const requestId = `req_${number.toString(16).padStart(8, '0')}`
    context.set('requestId', requestId)
    await interceptWith(options.intercept, context, number, next)
    const { headers, status } = context.res
    if (!headers.has('date')) headers.set('date', new Date(options.now()).toUTCString())
    if (!headers.has('x-request-id')) headers.set('x-request-id', requestId)
    const { method, path } = context.req
    const { host } = context.env
    options.record({
      host,
      number,
      method,
      path: path + searchOf(context),
      status,
      role: roleOf(context),
    })
  })

  const limit = options.limit === null ? undefined : createLimiter(options.limit)
  const admit: MiddlewareHandler<Env> = async (context, next) => {
    const { path } = context.req
    if (context.env.host !== hostOf(path)) return context.notFound()
    const role = mustBeKnown(context)
    limit?.(context, role)
    if (path.startsWith('/api/v1/analytics')) mustManage(context, 'analytics need')
    return next()
  }
  app.use('/api/*', admit)

  addAnalytics(app, options)
  addControls(app, options)
  addUsageLimits(app, options)
  addReadiness(app, options)
  const sessions = addSessions(app, options, computerIds(options.seed))
  addComputers(app, options, sessions)

  app.notFound((context) => {
    const { method, path } = context.req
    return problem(context, new HTTPException(404, { message: `no route for ${method} ${path}` }))
  })
  app.onError((error, context) => problem(context, error))
  return { app, sessions }
}

function hostOf(path: string): Host {
  return path.startsWith('/api/organization/') ? 'app' : 'api'
}

async function interceptWith(
  intercept: Intercept,
  context: Context<Env>,
  number: number,
  next: () => Promise<void>,
): Promise<void> {
  const answer = await intercept({
    host: context.env.host,
    path: context.req.path,
    query: new URLSearchParams(searchOf(context)),
    number,
    method: context.req.method,
    headers: context.req.raw.headers,
    answer: async () => {
      await next()
      return context.res
    },
  })
  if (answer === undefined) {
    if (!context.finalized) await next()
    return
  }
  context.res = undefined // otherwise the headers of the platform's response would stay
  context.res = answer
}

/** The Problem body of an error; those outside analytics have no request id. */
function problem(context: Context<Env>, error: Error): Response {
  const status = error instanceof HTTPException ? error.status : 500
  const isNamed = !/^\/api\/(v0|organization)\//.test(context.req.path)
  return context.json(
    {
      detail: error.message,
      status,
      title: STATUS_CODES[status],
      metadata: {},
      requestId: isNamed ? context.get('requestId') : undefined,
    },
    status,
  )
}

/** The raw query with its question mark; empty without one. */
function searchOf(context: Context<Env>): string {
  const { url } = context.req
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}
