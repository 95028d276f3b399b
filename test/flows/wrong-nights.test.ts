import { expect, it } from 'vitest'
import { sendJson, temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { ledgerOf, syncFrom } from './platform.ts'

const DAY = 86_400_000
const NIGHT = Date.parse('2026-02-20T06:00:00Z')
/** On the night after that, it is 30 days old. */
const OLD = '2026-01-22'
const only = ['tools']

/**
 * A platform without rows, after a first night. It then refuses ranges of tools by their first day.
 * Returns a function that runs a night.
 */
async function emptyPlatform(isRefused: (first: string) => boolean = () => false) {
  let there = NIGHT
  let isFirst = true
  const { url } = await testServer((request, response) => {
    const first = new URL(request.url ?? '', 'http://platform').searchParams.get('startDate') ?? ''
    const headers = { date: new Date(there).toUTCString() }
    if (!isFirst && request.url?.includes('/tools') === true && isRefused(first))
      sendJson(response, 400, { title: 'Bad Request' }, headers)
    else sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
  })
  const data = await temporaryFolder()
  const night = async (now: number, address = url) => {
    there = now
    const { result, world } = await syncFrom(address, data, { only, world: testWorld(now) })
    const warnings = world.events.flatMap((each) => (each.type === 'warning' ? [each.message] : []))
    return { result, warnings, ledger: await ledgerOf(data, 'o') }
  }
  await night(NIGHT)
  isFirst = false
  return night
}

it('a refused old day counts as rechecked if another day of the resource is answered', async () => {
  const night = await emptyPlatform((first) => first <= OLD)
  const { result, ledger } = await night(NIGHT + DAY)
  expect(result.failed).toBe(0)
  expect(ledger.get(`tools/${OLD}`)).toMatchObject({ refusedAt: NIGHT + DAY })
})

it('law 8: no day counts as rechecked in a night that refuses every day of the resource', async () => {
  const night = await emptyPlatform(() => true)
  const { result, warnings, ledger } = await night(NIGHT + DAY)
  expect(result.failed).toBeGreaterThan(1)
  expect(warnings).toEqual([])
  expect(ledger.get(`tools/${OLD}`)).toMatchObject({ status: 'empty', fetchedAt: NIGHT })
  expect(ledger.get(`tools/${OLD}`)).not.toHaveProperty('refusedAt')
})

it('days of the future that a run with a wrong clock recorded as failed are forgotten', async () => {
  const night = await emptyPlatform()
  const wrong = await night(NIGHT + 365 * DAY, 'http://127.0.0.1:9')
  expect(wrong.ledger.get('tools/2027-02-10')).toMatchObject({ status: 'failed' })
  const { result, warnings, ledger } = await night(NIGHT + DAY)
  expect(result.failed).toBe(0)
  expect(
    [...ledger.values()]
      .map(({ day }) => day)
      .sort()
      .at(-1),
  ).toBe('2026-02-20')
  expect(warnings.join()).toContain('a run with a wrong clock recorded days of o as failed')
})
