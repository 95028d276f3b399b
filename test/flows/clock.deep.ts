import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addDays, dayOf, HISTORY_START, type Day } from '../../src/lib/days.ts'
import { ClockError, platformClock } from '../../src/extract/identity.ts'
import { rememberOrganisation } from '../../src/lake/organisations.ts'
import { command } from '../support/command.ts'
import { sendJson, temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { syncFrom } from './platform.ts'

const NOW = '2026-03-10T06:00:00Z'

describe('today at the platform', () => {
  it.each<[string, string, string | null, string | undefined, string]>([
    ['comes from its Date', NOW, '2026-03-10T06:00:30Z', undefined, '2026-03-10'],
    [
      'comes from its Date after midnight there',
      NOW,
      '2026-03-11T00:00:00Z',
      undefined,
      '2026-03-11',
    ],
    ['may be a day ahead', NOW, '2026-03-11T07:00:00Z', undefined, '2026-03-11'],
    ['may be months behind', NOW, '2026-01-20T00:00:00Z', undefined, '2026-01-20'],
    ['may be the first of the history', NOW, '2026-01-14T00:00:00Z', undefined, '2026-01-14'],
    [
      'may be a day before that of an earlier run',
      NOW,
      '2026-03-08T00:00:00Z',
      '2026-03-08',
      '2026-03-08',
    ],
    ['is this machine’s without a Date', NOW, null, '2026-03-08', '2026-03-10'],
    [
      'is the platform’s where this machine is ahead',
      '2035-01-01T00:00:00Z',
      NOW,
      undefined,
      '2026-03-10',
    ],
  ])('%s', (_, now, served, lastDay, today) => {
    const clock = platformClock(timeOf(served), Date.parse(now), lastDay as Day | undefined)
    expect(clock.today).toBe(today)
  })

  it.each<[string, string, string | null, string | undefined]>([
    ['in 1970', NOW, '1970-01-01T00:00:00Z', undefined],
    ['before the history', NOW, '2026-01-13T23:59:59Z', undefined],
    ['before that of an earlier run', NOW, '2026-03-07T23:59:59Z', '2026-03-08'],
    ['in 1970, of a platform known from an earlier run', NOW, '1970-01-01T00:00:00Z', '2026-03-08'],
    ['more than 25 hours ahead', NOW, '2026-03-11T07:00:01Z', undefined],
    ['in 9999', NOW, '9999-12-31T23:59:59Z', '2026-03-08'],
    ['of this machine in 1970, the platform’s right', '1970-01-01T00:00:00Z', NOW, undefined],
    ['of this machine in 1970, no Date', '1970-01-01T00:00:00Z', null, undefined],
    ['of this machine before an earlier run, no Date', '2026-02-01T00:00:00Z', null, '2026-03-08'],
  ])('is unknown where the clock is %s', (_, now, served, lastDay) => {
    const judge = (): unknown =>
      platformClock(timeOf(served), Date.parse(now), lastDay as Day | undefined)
    expect(judge).toThrow(ClockError)
    expect(judge).toThrow(/^this machine's clock says \d{4}-\S+Z, the platform (says|sent no Date)/)
  })

  it.each<[string, string | null, RegExp]>([
    ['without a Date', null, /correct, the clock was ahead in an earlier run: remove/],
    ['with a Date', NOW, /correct, the platform or a proxy .*, or the clock was ahead .*: remove/],
  ])('says how to continue where an earlier run was ahead: %s', (_, served, hint) => {
    const judge = (): unknown => platformClock(timeOf(served), Date.parse(NOW), '2026-03-30' as Day)
    expect(judge).toThrow(expect.objectContaining({ hint: expect.stringMatching(hint) as string }))
  })

  const timeOf = (text: string | null): number | null => (text === null ? null : Date.parse(text))
})

/** A platform without rows, whose responses carry that `Date`. */
function platform(date: string | null) {
  return testServer((_, response) => {
    response.sendDate = false
    sendJson(response, 200, { data: [], meta: { org_id: 'org-1' } }, date === null ? {} : { date })
  })
}

describe('an implausible Date', () => {
  it.each([
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'Fri, 31 Dec 9999 23:59:59 GMT',
    'Mon, 01 Jan 2035 00:00:00 GMT',
  ])('ends a first run with 2 after one request: %s', async (date) => {
    const { url, requests } = await platform(date)
    const data = await temporaryFolder()
    const { code, out, err } = await command(['run', '--log', 'none'], {
      AGENT_BASE_URL: url,
      AGENT_API_KEY: 'key',
      AGENT_WAREHOUSE_DATA: data,
    })
    expect({ code, err }).toMatchObject({ code: 2 })
    expect(err).toMatch(/this machine's clock says 20\d\d-\S+, the platform says \d{4}-/)
    expect(out).not.toContain('Complete')
    expect(requests).toHaveLength(1)
    expect(await readdir(data)).not.toContain('lake')
  })

  it('leaves the organisation record of an earlier run as it is', async () => {
    const data = await temporaryFolder()
    const world = testWorld(Date.parse(NOW))
    const known = { orgId: 'org-1', servedAs: 'org-1', lastDay: '2026-03-08' as Day, skewMs: 0 }
    await rememberOrganisation(data, 'default', known, () => undefined)
    const { url, requests } = await platform('Sat, 07 Mar 2026 23:59:59 GMT')
    const { result } = await syncFrom(url, data, { world })
    expect(result).toMatchObject({ failed: 0, landed: 0, unreachable: null })
    expect(result.stoppedBy).toBeInstanceOf(ClockError)
    expect(requests).toHaveLength(1)
    expect(await readdir(join(data, 'state'))).toEqual(['organisations.json'])
  })

  it.each([
    'Sun, 31 Feb 2026 00:00:00 GMT',
    'Sat, 29 Feb 2025 00:00:00 GMT',
    'Tue, 10 Mar 2026 25:00:00 GMT',
    'Tue, 10 Mar 2026 06:00:00 +1400',
    'Tue, 10 Mar 2026 06:00:00 GMT, Tue, 10 Mar 2026 06:00:00 GMT',
    'Tue, 10 Mar 2026',
    '2026-03-10T06:00:00Z',
    'today',
    '',
  ])('ends a run where it is not a valid date: %s', async (date) => {
    const { url, requests } = await platform(date)
    const data = await temporaryFolder()
    const { result } = await syncFrom(url, data, { world: testWorld(Date.parse(NOW)) })
    expect(result.stoppedBy).toBeInstanceOf(ClockError)
    expect(result.stoppedBy?.message).toBe(
      "this machine's clock says 2026-03-10T06:00:00Z, the platform sends a Date that is not a valid date: it is unknown which days are over there",
    )
    expect(requests).toHaveLength(1)
    expect(await readdir(data)).not.toContain('lake')
  })

  it.each([
    'Tuesday, 10-Mar-26 06:00:00 GMT',
    'Tue Mar 10 06:00:00 2026',
    'Mon, 10 Mar 2026 06:00:00 GMT', // it was a Tuesday
  ])('a Date in any form of HTTP is accepted: %s', async (date) => {
    const { url } = await platform(date)
    const world = testWorld(Date.parse(NOW))
    const { result } = await syncFrom(url, await temporaryFolder(), { world, only: ['tokens'] })
    expect(result).toMatchObject({ stoppedBy: null, failed: 0 })
  })

  it('an absent Date is accepted: the clock of this machine is used', async () => {
    const world = testWorld(Date.parse(NOW))
    const { url, requests } = await platform(null)
    const { result } = await syncFrom(url, await temporaryFolder(), { world, only: ['tokens'] })
    expect(result.landed).toBe((Date.parse('2026-03-10') - Date.parse(HISTORY_START)) / 86_400_000)
    expect(requests.at(-1)).toContain(`endDate=${addDays(dayOf(world.now()), -1)}`)
  })
})
