import { ApiError, type ApiClient } from '../../src/client/index.ts'
import { failureOf } from '../client/support.ts'
import { COMPUTER, DAY, MESSAGE, SESSION } from './specification/samples.ts'

/** What the methods of the client return, by the name of the section. */
export async function clientValues(client: ApiClient): Promise<Record<string, unknown>> {
  const range = { startDate: DAY, endDate: DAY }
  const [change] = (await client.controls.page()).changes
  const [users] = await collect(client.users(range))
  return {
    problem: await problemOf(client.tokens({ startDate: '2026-01-15', endDate: '2026-01-15' })),
    change,
    settings: change?.settings,
    source: change?.settings['strictKnownMarketplaces'],
    customModel: first(change?.settings['customModels']),
    limits: await client.limits.get(),
    limitsResult: await client.limits.setUsers([{ email: 'ada@acme.example', limit: 1 }]),
    tokens: first(await client.tokens(range)),
    tools: first(await client.tools(range)),
    activity: first(await client.activity(range)),
    productivity: first(await client.productivity(range)),
    users: users?.[0],
    tools_by_name: first(await client.toolsByName(range)),
    activity_by_client: first(await client.activityByClient(range)),
    tokens_by_model: first(await client.tokensByModel(range)),
    readiness: first(await client.readiness.page()),
    session: await client.sessions.get(SESSION.sessionId),
    message: await client.sessions.message(SESSION.sessionId, MESSAGE.id),
    computer: await client.computers.get(COMPUTER.id),
    metrics: first(await client.computers.metrics(COMPUTER.id)),
  }
}

async function problemOf(call: Promise<unknown>): Promise<unknown> {
  const failure = await failureOf(call)
  return failure instanceof ApiError ? failure.problem : failure
}

function first(values: unknown): unknown {
  return Array.isArray(values) ? (values as unknown[])[0] : undefined
}

async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const page of pages) all.push(page)
  return all
}
