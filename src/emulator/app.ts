import { Hono, type Context } from 'hono'
import { setImmediate } from 'node:timers/promises'

import { DAY_RESOURCES, dayAnswer, userAnswer, type Platform } from './analytics.ts'
import { mayReadAnalytics, roleOf, type Role } from './credentials.ts'
import type { Limiter } from './limiter.ts'
import { addPlatformRoutes, type Resources } from './platform-routes.ts'
import { problemBody, Refusal } from './problems.ts'

/** The public API host, or the web application host. */
export type Host = 'api' | 'app'

/** A request as a test sees it before the platform does. */
export interface InterceptedRequest {
  /** The host that was asked. */
  readonly host: Host
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** 1 for the first request of this platform. */
  readonly number: number
  readonly method: string
  readonly headers: Headers
  /** The platform's own answer, to hand on changed. */
  readonly answer: () => Promise<Response>
}

/** Answers in place of the platform, or not at all: `undefined` lets the request through. */
export type Intercept = (
  request: InterceptedRequest,
) => Response | undefined | Promise<Response | undefined>

/** A request that was answered. */
export interface RequestRecord {
  /** The host that was asked. */
  readonly host: Host
  readonly number: number
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly status: number
  /** The role behind the credential; null when it was missing or unknown. */
  readonly role: Role | null
}

export interface AppOptions {
  readonly platform: Platform
  readonly resources: Resources
  readonly limiter: Limiter | null
  /** `none`: a 429 does not say how long to wait. */
  readonly limitStyle: 'retry-after' | 'none'
  readonly intercept: Intercept | null
  readonly record: (request: RequestRecord) => void
}

interface Env {
  Bindings: { host: Host }
  Variables: { requestId: string }
}

const JSON_TYPE = { 'content-type': 'application/json' }

/** The routes of the stand-in platform. Every answer carries `date` and `x-request-id`. */
export function createApp(options: AppOptions): Hono<Env> {
  const app = new Hono<Env>()
  let served = 0

  app.use(async (context, next) => {
    const number = (served += 1)
    const requestId = `req_${number.toString(16).padStart(8, '0')}`
    context.set('requestId', requestId)
    await (options.intercept === null
      ? next()
      : interceptWith(options.intercept, context, number, next))
    const { headers, status } = context.res
    if (!headers.has('date')) headers.set('date', new Date(options.platform.now()).toUTCString())
    if (!headers.has('x-request-id')) headers.set('x-request-id', requestId)
    const { method, path } = context.req
    const role = roleOf(context.req.header('authorization'))
    const { host } = context.env
    options.record({ host, number, method, path: path + searchOf(context), status, role })
  })

  app.use('/api/*', async (context, next) => {
    if (context.env.host !== hostOf(context.req.path)) return context.notFound()
    const role = admit(context.req.header('authorization'), options)
    if (isAnalytics(context.req.path) && !mayReadAnalytics(role)) {
      throw new Refusal(403, 'Forbidden', `analytics need the role owner or manager, not ${role}`)
    }
    return next()
  })

  for (const [name, resource] of DAY_RESOURCES) {
    app.get(`/api/v1/analytics/${name}`, (context) =>
      context.body(
        streamOf(dayAnswer(options.platform, resource, queryOf(context))),
        200,
        JSON_TYPE,
      ),
    )
  }
  app.get('/api/v1/analytics/users', (context) =>
    context.body(userAnswer(options.platform, queryOf(context)), 200, JSON_TYPE),
  )

  addPlatformRoutes(app, options.resources)

  app.notFound((context) => {
    const { method, path } = context.req
    return refuse(context, new Refusal(404, 'Not Found', `no route for ${method} ${path}`))
  })
  app.onError((error, context) =>
    refuse(
      context,
      error instanceof Refusal ? error : new Refusal(500, 'Internal Server Error', error.message),
    ),
  )
  return app
}

/** The host that has a path. */
function hostOf(path: string): Host {
  return path.startsWith('/api/organization/') ? 'app' : 'api'
}

function isAnalytics(path: string): boolean {
  return path.startsWith('/api/v1/analytics')
}

/** The role behind a credential. @throws Refusal 401 or 429. */
function admit(authorization: string | undefined, { limiter, limitStyle }: AppOptions): Role {
  const role = roleOf(authorization)
  if (role === null) {
    throw new Refusal(401, 'Unauthorized', 'the bearer credential is missing or unknown', {
      'www-authenticate': 'Bearer',
    })
  }
  const waitMs = limiter?.(role) ?? 0
  if (waitMs > 0) {
    const hint: Record<string, string> =
      limitStyle === 'none' ? {} : { 'retry-after': `${Math.ceil(waitMs / 1000)}` }
    throw new Refusal(429, 'Too Many Requests', 'the rate limit of this credential', hint)
  }
  return role
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
    query: queryOf(context),
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
  context.res = undefined // else the headers of the platform's own answer would be kept
  context.res = answer
}

function refuse(context: Context<Env>, refusal: Refusal): Response {
  const isNamed = !/^\/api\/(v0|organization)\//.test(context.req.path)
  const requestId = isNamed ? context.get('requestId') : undefined
  return context.body(problemBody(refusal, requestId), refusal.status, {
    ...JSON_TYPE,
    ...refusal.headers,
  })
}

function queryOf(context: Context<Env>): URLSearchParams {
  return new URLSearchParams(searchOf(context))
}

/** The query with its question mark, as it came; empty without one. */
function searchOf(context: Context<Env>): string {
  const { url } = context.req
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
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
