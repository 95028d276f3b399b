import { expect, it } from 'vitest'
import { addDays, dayOf, eachDay, HISTORY_START, startOf, type Day } from '../../src/lib/days.ts'
import { temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { syncFrom } from './platform.ts'

const USERS = 250
const PAGES = Math.ceil(USERS / 100)
const userId = (index: number): string => `user-${String(index).padStart(3, '0')}`

/** So long on the newest days that the rechecks of a night outgrow the memory of one response. */
const LONG_TEXT = 'x'.repeat(300_000)
const GREW_ON = addDays(HISTORY_START, 270)

/** Serves the same rows for every day, and 250 users in pages of a hundred. */
async function quietPlatform(now: () => number) {
  return testServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://platform')
    const [first, last] = ['startDate', 'endDate'].map((name) => searchParams.get(name) as Day)
    const isUsers = pathname.endsWith('/users')
    const isTokens = pathname.endsWith('/tokens') && !searchParams.has('group_by')
    const after = searchParams.get('cursor')
    const start = after === null ? 0 : Number(after.slice(-3)) + 1
    const end = Math.min(USERS, start + 100)
    const data = isUsers
      ? Array.from({ length: end - start }, (_, index) => ({
          user_id: userId(start + index),
          date: first,
        }))
      : eachDay({ first: first ?? HISTORY_START, last: last ?? HISTORY_START }).map((date) => ({
          date,
          daily_active_users: USERS,
          ...(isTokens && date >= GREW_ON ? { by_user: LONG_TEXT } : {}),
        }))
    const hasMore = isUsers && end < USERS
    const meta = {
      org_id: 'o',
      has_more: hasMore,
      ...(hasMore ? { next_cursor: userId(end - 1) } : {}),
    }
    const headers = { 'content-type': 'application/json', date: new Date(now()).toUTCString() }
    response.writeHead(200, headers)
    response.end(JSON.stringify({ data, meta }))
  })
}

it('an idle night sends at most 12 requests, and one per page of users of each rechecked day', async () => {
  const data = await temporaryFolder()
  const firstNight = startOf(addDays(HISTORY_START, 300)) + 2 * 3_600_000
  let now = firstNight
  const { url, requests } = await quietPlatform(() => now)
  await syncFrom(url, data, { world: testWorld(now) })
  for (let night = 1; night <= 7; night += 1) {
    now = firstNight + night * 86_400_000
    requests.length = 0
    const { result, world } = await syncFrom(url, data, { world: testWorld(now) })
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    const plan = world.events.find(({ type }) => type === 'plan.made')
    const usersDays = plan?.type === 'plan.made' ? (plan.days['users'] ?? 0) : 0
    const ofDays = requests.filter((request) => !request.includes('/users?')).length
    expect(ofDays, dayOf(now)).toBeLessThanOrEqual(12)
    expect(requests.length - ofDays, dayOf(now)).toBe(PAGES * usersDays)
    expect(usersDays, 'six rechecks and a 28th of the final days').toBeLessThanOrEqual(6 + 10)
  }
})
