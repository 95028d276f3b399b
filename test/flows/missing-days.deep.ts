import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { command } from '../support/command.ts'
import { DAY, flip, newest, NOW, platform, unrecord } from '../extract/three-days.ts'

const plans = z.array(
  z.object({
    tasks: z.array(
      z.object({
        resource: z.string(),
        days: z.array(z.object({ activity_date: z.string(), reason: z.string() })),
      }),
    ),
  }),
)

const statuses = z.object({
  organisations: z.array(
    z.object({
      resources: z.array(
        z.looseObject({
          resource: z.string(),
          landed: z.number(),
          missing: z.number(),
          gaps: z.array(z.looseObject({ first: z.string(), status: z.string() })),
        }),
      ),
    }),
  ),
})

/** The reasons why the plan requests the day of users. */
async function reasons(data: string): Promise<string[]> {
  const { out } = await command(['plan', '--json', '--only', 'users'], folder(data))
  return plans
    .parse(JSON.parse(out))
    .flatMap(({ tasks }) => tasks.flatMap(({ days }) => days))
    .flatMap(({ activity_date, reason }) => (activity_date === DAY ? [reason] : []))
}

async function usersIn(data: string): Promise<object> {
  const { out } = await command(['status', '--json'], folder(data))
  const { organisations } = statuses.parse(JSON.parse(out))
  const users = organisations[0]?.resources.find(({ resource }) => resource === 'users')
  return {
    landed: users?.landed,
    missing: users?.missing,
    gaps: users?.gaps.map(({ first, status }) => `${first} ${status}`),
  }
}

function folder(data: string): Record<string, string> {
  return { AGENT_WAREHOUSE_DATA: data, AGENT_BASE_URL: 'http://127.0.0.1:9', AGENT_API_KEY: 'key' }
}

const WHOLE = { landed: 3, missing: 0, gaps: [] }
const LACKING = { landed: 2, missing: 1, gaps: [`${DAY} missing`] }

describe('law 5: plan and status agree with the next run when', () => {
  it.each([
    ['a raw file is gone', async (data: string) => rm(await newest(data)), 'missing', LACKING],
    ['a line of the ledger is missing', unrecord, 'recheck', WHOLE],
    [
      'the ledger is gone',
      async (data: string) => rm(join(data, 'state', 'ledger', 'o.ndjson')),
      'recheck',
      WHOLE,
    ],
    [
      'a line of the ledger is missing and its raw file is damaged',
      async (data: string) => {
        await unrecord(data)
        await flip(await newest(data))
      },
      'missing',
      LACKING,
    ],
  ])('%s', async (_, damage, reason, users) => {
    const { data, sync, requests } = await platform()
    await sync()
    await damage(data)
    const before = await contents(data)
    expect(await reasons(data)).toEqual([reason])
    expect(await usersIn(data)).toEqual(users)
    expect(await contents(data)).toEqual(before)
    requests.length = 0
    await sync(NOW + 60_000)
    const isAsked = requests.some((url) => url.includes(DAY) && url.includes('users'))
    expect(isAsked).toBe(reason === 'missing')
    expect(await usersIn(data)).toEqual(WHOLE)
  })
})

/** Every file of the data folder. */
async function contents(data: string): Promise<Record<string, string>> {
  const entries = await readdir(data, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((e) => join(e.parentPath, e.name))
  const texts = await Promise.all(files.map((path) => readFile(path, 'latin1')))
  return Object.fromEntries(files.map((path, at) => [path, texts[at] ?? '']))
}
