import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removedSoon } from '../../src/extract/entities/session-ids.ts'
import { planEntities } from '../../src/extract/entities/sync.ts'
import { LandingDatabase } from '../../src/extract/land/raw-writer.ts'
import { dayOf } from '../../src/lib/days.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { DAY, night, NIGHT, platform, type Platform } from './entities-night.ts'
import { NOTHING } from './platform.ts'

/** The requests of a night; the others wait for the next one. */
const MOST_A_NIGHT = 500

async function spool(data: string, sessionId: string, at: number): Promise<void> {
  const time = new Date(at).toISOString()
  const name = `${time.replaceAll(/[-:.]/g, '')}-${sessionId}.json`
  await writeAtomic(
    join(data, 'state/hooks/spool', name),
    `${JSON.stringify({
      event_id: `event-${sessionId}`,
      recorded_at: time,
      input: { hook_event_name: 'Stop', session_id: sessionId },
    })}\n`,
  )
}

/** A platform whose settings keep sessions for so many days; null: no setting. */
function keeping(sessionRetentionDays: number | null): Promise<Platform> {
  const settings = sessionRetentionDays === null ? {} : { sessionRetentionDays }
  const changes = [{ revision: 1, settings, user: {}, updatedAt: '2026-01-20T00:00:00Z' }]
  return platform({
    intercept: ({ path }) =>
      path.endsWith('/enterprise-controls/history')
        ? Response.json({ changes, pagination: { hasMore: false } })
        : undefined,
  })
}

/** The sessions that a night requests when more are due than it may request. */
async function asked(retentionDays: number | null): Promise<Set<string>> {
  const [emulator, data] = [await keeping(retentionDays), await temporaryFolder()]
  for (let n = 0; n < MOST_A_NIGHT; n += 1) await spool(data, `new-${n}`, NIGHT - n * 60_000)
  await spool(data, 'zz-leaving', NIGHT - 29 * DAY)
  await spool(data, 'zz-gone', NIGHT - 40 * DAY)
  const only = ['hook_events', 'enterprise_controls', 'sessions'] as const
  const { requests } = await night(emulator, data, { only })
  const ids = requests.flatMap((path) => /\/sessions\/([^/?]+)/.exec(path)?.[1] ?? [])
  expect(ids).toHaveLength(MOST_A_NIGHT)
  return new Set(ids)
}

it('a session is requested in the night after its first hook event', async () => {
  const [emulator, data] = [await keeping(30), await temporaryFolder()]
  await spool(data, 'first', NIGHT - 60_000)
  const { requests } = await night(emulator, data)
  expect(requests).toContain('/api/v0/sessions/first')
})

it('sessions that the platform removes before the next night are requested first', async () => {
  const ids = await asked(30)
  expect([ids.has('zz-leaving'), ids.has('zz-gone')]).toEqual([true, false])
})

it('no session is requested first when the settings name no retention', async () => {
  expect((await asked(null)).has('zz-leaving')).toBe(false)
})

it('a plan has no more requests for sessions than a night sends', async () => {
  const data = await temporaryFolder()
  const ids = Array.from({ length: MOST_A_NIGHT + 1 }, (_, at) => `s-${at}`)
  await writeAtomic(join(data, 'seeds', 'sessions.csv'), ['session_id', ...ids].join('\n'))
  await using database = new LandingDatabase(data)
  const lake = { dataFolder: data, orgId: 'org_demo', ledger: new Map(), database }
  const resources = ['sessions'] as const
  expect(await planEntities(lake, { ...NOTHING, resources }, dayOf(NIGHT))).toEqual([
    { resource: 'sessions', what: '501 due, at most 500 a night', requests: 500 },
  ])
})

it('a session counts as removed soon from two days before the end of the retention to a day after it', () => {
  const seen = new Map([
    ['updated', { fetchedAt: NIGHT, updatedAt: NIGHT - 9 * DAY, status: 'idle', children: [] }],
  ])
  const isSoon = removedSoon(10, seen, NIGHT)
  const beganDaysAgo = (days: number) => isSoon({ sessionId: 's', beganAt: NIGHT - days * DAY })
  expect([7.9, 8, 10, 10.9, 11].map(beganDaysAgo)).toEqual([false, true, true, true, false])
  expect(isSoon({ sessionId: 'updated', beganAt: NIGHT })).toBe(true)
  expect(isSoon({ sessionId: 'unknown' })).toBe(false)
  expect(removedSoon(null, seen, NIGHT)({ sessionId: 'updated' })).toBe(false)
})
