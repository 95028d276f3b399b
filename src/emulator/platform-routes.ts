import type { Context, Env, Hono } from 'hono'
import { metricsAnswer } from './computer-metrics.ts'
import { computerIds, createComputers, type Computers } from './computers.ts'
import { controlsAnswer } from './controls.ts'
import { maySetLimits, roleOf } from './credentials.ts'
import { messageAnswer } from './messages.ts'
import type { Organisation } from './organisation.ts'
import { Refusal } from './problems.ts'
import { readinessAnswer } from './readiness.ts'
import { bodyOf } from './queries.ts'
import { createSessions, sessionPatchBody, type Sessions } from './sessions.ts'
import {
  createUsageLimits,
  globalLimitBody,
  userLimitsBody,
  type UsageLimits,
} from './usage-limits.ts'

export interface ResourceOptions {
  readonly organisation: Organisation
  readonly seed: number
  readonly now: () => number
  readonly canInterrupt: boolean
}

/** Everything beside analytics; what requests change is held here. */
export interface Resources extends ResourceOptions {
  readonly limits: UsageLimits
  readonly sessions: Sessions
  readonly computers: Computers
}

export function createResources(options: ResourceOptions): Resources {
  const { organisation, seed, now } = options
  const sessions = createSessions({ ...options, computerIds: computerIds(seed) })
  return {
    ...options,
    limits: createUsageLimits(organisation, now),
    sessions,
    computers: createComputers(seed, now, sessions),
  }
}

/** Adds the routes beside analytics; the readiness reports of the application host too. */
export function addPlatformRoutes<E extends Env>(app: Hono<E>, resources: Resources): void {
  addOrganisationRoutes(app, resources)
  addSessionRoutes(app, resources.sessions)
  addComputerRoutes(app, resources)
}

function addOrganisationRoutes<E extends Env>(app: Hono<E>, resources: Resources): void {
  const { organisation, now, limits } = resources
  const api = '/api/v0/organization'
  app.get(`${api}/enterprise-controls/history`, (context) =>
    context.json(controlsAnswer(organisation, now(), queryOf(context))),
  )
  app.get(`${api}/usage/limits/users`, (context) => context.json(limits.read()))
  app.put(`${api}/usage/limits/global`, async (context) => {
    mustManage(context)
    const { limit } = await bodyOf(context, globalLimitBody)
    return context.json(limits.setGlobal(limit))
  })
  app.put(`${api}/usage/limits/users`, async (context) => {
    mustManage(context)
    const { users } = await bodyOf(context, userLimitsBody)
    return context.json(limits.setUsers(users))
  })
  app.get('/api/organization/maturity-level-reports', (context) =>
    context.json(readinessAnswer(resources, now(), queryOf(context))),
  )
}

function addSessionRoutes<E extends Env>(app: Hono<E>, sessions: Sessions): void {
  const api = '/api/v0/sessions/:id'
  app.get(api, (context) =>
    context.json(sessions.read(context.req.param('id'), queryOf(context).get('computerId'))),
  )
  app.patch(api, async (context) => {
    const { sessionSettings } = await bodyOf(context, sessionPatchBody)
    return context.json(sessions.patch(context.req.param('id'), sessionSettings))
  })
  app.post(`${api}/interrupt`, (context) => {
    sessions.interrupt(context.req.param('id'))
    return context.json({})
  })
  app.get(`${api}/messages/:message`, (context) => {
    const { id, message } = context.req.param()
    const session = sessions.find(id, queryOf(context).get('computerId'))
    return context.json(messageAnswer(session, message))
  })
}

function addComputerRoutes<E extends Env>(app: Hono<E>, { computers, now }: Resources): void {
  const api = '/api/v0/computers'
  app.get(api, (context) => context.json(computers.list()))
  app.get(`${api}/name/:name`, (context) =>
    context.json(computers.readByName(context.req.param('name'))),
  )
  app.get(`${api}/:id`, (context) => context.json(computers.read(context.req.param('id'))))
  app.delete(`${api}/:id`, (context) => {
    computers.remove(context.req.param('id'))
    return context.body(null, 204)
  })
  app.post(`${api}/:id/install-deps`, (context) =>
    context.json(computers.installDependencies(context.req.param('id')), 202),
  )
  app.post(`${api}/:id/refresh`, (context) =>
    context.json(computers.refresh(context.req.param('id'))),
  )
  app.post(`${api}/:id/restart`, (context) => {
    computers.restart(context.req.param('id'))
    return context.json({})
  })
  app.get(`${api}/:id/metrics`, (context) =>
    context.json(metricsAnswer(computers.find(context.req.param('id')), now(), queryOf(context))),
  )
}

/** @throws Refusal 403 for members and guests. */
function mustManage(context: Context): void {
  const role = roleOf(context.req.header('authorization'))
  if (role === null || maySetLimits(role)) return
  throw new Refusal(403, 'Forbidden', `limits are set by the role owner or manager, not ${role}`)
}

function queryOf(context: Context): URLSearchParams {
  return new URL(context.req.url).searchParams
}
