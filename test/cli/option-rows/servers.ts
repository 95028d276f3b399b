import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { startCommand, type Outcome, type Running } from '../../support/command.ts'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import { expectClean, expectCleanFiles, KEY } from '../echoed-key.ts'
import { eventsOf, NOW, ok, on, once, rowsOf, type Row, type Rows } from './rows.ts'

const USERS = '/api/v1/analytics/users?startDate=2026-02-02&endDate=2026-02-02&limit=100'
const FREE = ['emulate', '--port', '0', '--app-port', '0', '--users', '3']

/** The stand-in platform of the command, and its address and key. */
async function emulate(...flags: string[]): Promise<{ running: Running; printed: string }> {
  const running = startCommand([...FREE, ...flags])
  await running.untilPrinted('Ctrl-C')
  return { running, printed: running.printed() }
}

function variable(printed: string, name: string): string {
  return new RegExp(`${name}=(\\S+)`).exec(printed)?.[1] ?? ''
}

async function statusesOf(printed: string, path: string, count: number): Promise<number[]> {
  const headers = { authorization: `Bearer ${variable(printed, 'AGENT_API_KEY')}` }
  const url = `${variable(printed, 'AGENT_BASE_URL')}${path}`
  const answers = await Promise.all(Array.from({ length: count }, () => fetch(url, { headers })))
  return answers.map(({ status }) => status)
}

async function rowsAt(printed: string, path: string): Promise<unknown[]> {
  const headers = { authorization: `Bearer ${variable(printed, 'AGENT_API_KEY')}` }
  const answer = await fetch(`${variable(printed, 'AGENT_BASE_URL')}${path}`, { headers })
  return ((await answer.json()) as { data: unknown[] }).data
}

/** A port that was free a moment ago. */
async function freePort(): Promise<string> {
  const emulator = await startEmulator({ now: () => 0 })
  await emulator.close()
  return new URL(emulator.url).port
}

function portRow(option: string, name: string): Row {
  return async () => {
    const port = await freePort()
    const { printed } = await emulate(`--${option}`, port)
    expect(variable(printed, name)).toBe(`http://127.0.0.1:${port}`)
  }
}

interface Demo extends Outcome {
  readonly data: string
}

/** One demo for all its rows, of a short history: two nights take as long as all other rows together. */
const demoOf = once(async (kit): Promise<Demo> => {
  const data = join(await kit.folder(), 'demo')
  const behind = Date.now() - NOW
  const clock = vi
    .spyOn(Date, 'now')
    .mockImplementation(() => Math.floor(performance.timeOrigin + performance.now()) - behind)
  try {
    const environment = { AGENT_API_KEY: KEY }
    const args = ['demo', '--users', '3', '--log', 'json', '--data', data]
    return { ...(await ok(kit, args, { environment })), data }
  } finally {
    clock.mockRestore()
  }
})

export const SERVERS: Rows = {
  ...rowsOf('emulate', {
    port: portRow('port', 'AGENT_BASE_URL'),
    'app-port': portRow('app-port', 'AGENT_APP_URL'),
    users: async () => {
      const { printed } = await emulate('--users', '30')
      const { printed: few } = await emulate('--users', '2')
      const [many, some] = await Promise.all([rowsAt(printed, USERS), rowsAt(few, USERS)])
      expect(many.length).toBeGreaterThan(2)
      expect(some.length).toBeLessThanOrEqual(2)
    },
    seed: async () => {
      const [one, two] = [await emulate(), await emulate('--seed', '2')]
      expect(await rowsAt(one.printed, USERS)).not.toEqual(await rowsAt(two.printed, USERS))
    },
    organisations: async () => {
      const { printed } = await emulate('--organisations', '2')
      const [url, key] = ['AGENT_BASE_URL', 'AGENT_API_KEY'].map((name) => variable(printed, name))
      const answerTo = async (credential: string): Promise<[number, string]> => {
        const headers = { authorization: `Bearer ${credential}` }
        const answer = await fetch(`${url ?? ''}${USERS}`, { headers })
        return [answer.status, await answer.text()]
      }
      const [one, two, three] = await Promise.all(
        [key ?? '', `${key ?? ''}-2`, `${key ?? ''}-3`].map(answerTo),
      )
      expect([one?.[0], two?.[0], three?.[0]]).toEqual([200, 200, 401])
      expect(one?.[1]).not.toEqual(two?.[1])
    },
    from: async () => {
      const days = '/api/v1/analytics/tokens?startDate=2026-02-01&endDate=2026-02-03'
      const { printed } = await emulate('--from', '2026-02-02')
      expect(await statusesOf(printed, days, 1)).toEqual([400])
      expect(await statusesOf((await emulate()).printed, days, 1)).toEqual([200])
    },
    rate: async () => {
      const { printed } = await emulate('--rate', '1')
      expect(await statusesOf(printed, USERS, 5)).toContain(429)
    },
    burst: async () => {
      const { printed } = await emulate('--rate', '0.001', '--burst', '3')
      const refused = (await statusesOf(printed, USERS, 10)).filter((status) => status === 429)
      expect(refused).toHaveLength(7)
    },
  }),
  ...rowsOf('demo', {
    data: async (kit) => {
      const { data, out } = await demoOf(kit)
      expect(out).toContain(`status --data ${data}`)
      const count = ['query', 'select count(*) > 0 as some from fct_org_day', '--format', 'csv']
      expect((await ok(kit, count, on(data))).out).toBe('some\ntrue\n')
      await expectCleanFiles(data)
    },
    log: async (kit) => {
      const said = await demoOf(kit)
      expectClean('demo', said.out + said.err)
      const types = eventsOf(said).map(({ type }) => type)
      expect(types).toContain('warehouse.published')
    },
    users: async (kit) => {
      const { data } = await demoOf(kit)
      const count = 'select count(distinct user_id) <= 3 as few from fct_user_day'
      expect((await ok(kit, ['query', count, '--format', 'csv'], on(data))).out).toBe('few\ntrue\n')
    },
  }),
}
