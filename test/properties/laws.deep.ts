import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startOf } from '../../src/lib/days.ts'
import { intervalKey, isSettled } from '../../src/lake/ledger.ts'
import { histories, type History } from './histories.ts'
import { BOUNDED, changes, runNights, truth, versionsOf } from './run-nights.ts'
import { daysBefore, inFolder, lakeOf, syncNight, type Night } from './nights.ts'
import { contentAt, nightOf, rowsOf } from './platform.ts'

const BOUNDS = { firstNight: 3, lastNight: 11, runs: 6, resources: 3, restatements: 10 }

describe('over any history of responses, failures and restatements', () => {
  it('laws 2 and 5 and 8: answered days leave the plan, every day has the state that was served, and each change is a version', async () => {
    await fc.assert(
      fc.asyncProperty(histories(BOUNDS), (history) =>
        inFolder(async (data) => {
          const nights = await runNights(data, history)
          for (const night of nights) {
            expectPlanned(night)
            expectStates(history, night)
          }
          const { only, model } = history
          expect(await versionsOf(data, history, nights)).toEqual(changes(nights, only, model))
        }),
      ),
      { ...BOUNDED, numRuns: 20 },
    )
  })

  it('law 6: N nights and then one without failures equal one full load', async () => {
    const lastNight = BOUNDS.lastNight + 9
    await fc.assert(
      fc.asyncProperty(histories({ ...BOUNDS, resources: 2 }), (history) =>
        inFolder(async (data) => {
          await runNights(data, history)
          const last = await syncNight(data, history.model, lastNight, history.only)
          // with users alone, the totals of their days are due where they never landed
          const isOwn = (key: string): boolean =>
            history.only.some((resource) => key.startsWith(`${resource}/`))
          expect(last.due.filter(isOwn)).toHaveLength(history.only.length * lastNight)
          expect(last.left).toEqual([])
          await inFolder(async (fresh) => {
            await syncNight(fresh, history.model, lastNight, history.only)
            for (const resource of history.only) {
              const [ours, theirs] = [await lakeOf(data, resource), await lakeOf(fresh, resource)]
              for (const day of daysBefore(lastNight)) {
                const newest = (await ours(day)).at(-1)
                expect(newest).toEqual(truth(history.model, resource, day, lastNight))
                expect([newest]).toEqual(await theirs(day))
              }
            }
          })
        }),
      ),
      { ...BOUNDED, numRuns: 10 },
    )
  })
})

/** The next plan lacks the answered days, and no others; without failures it is empty. */
function expectPlanned({ due, finished, left, result }: Night): void {
  const answered = new Set(finished)
  expect(left).toEqual(due.filter((key) => !answered.has(key)))
  const { failed, stoppedBy, unreachable } = result
  if (failed === 0 && stoppedBy === null && unreachable === null) expect(left).toEqual([])
}

function expectStates({ only, model }: History, { night, after, ...run }: Night): void {
  const failed = new Set(run.failed)
  const answered = new Set(run.finished)
  for (const resource of only) {
    for (const day of daysBefore(night)) {
      const key = intervalKey(resource, day)
      const interval = after.get(key)
      const hasFailed = failed.has(key) && !answered.has(key)
      if (interval?.fetchedAt == null) {
        expect([undefined, 'failed']).toContain(interval?.status)
        expect(interval?.file ?? null).toBeNull()
        expect(answered.has(key), `${key} was answered`).toBe(false)
        expect(run.left, `${key} is due`).toContain(key)
      } else {
        const served = rowsOf(resource, day, contentAt(model, resource, day, interval.fetchedAt))
        expect(interval).toMatchObject({
          status: served.length === 0 ? 'empty' : 'landed',
          rowCount: served.length,
        })
        expect(interval.fetchedAt).toBeGreaterThanOrEqual(startOf(day))
        expect(isSettled(interval)).toBe(false)
        if (answered.has(key)) expect(interval.fetchedAt).toBeGreaterThanOrEqual(nightOf(night))
      }
      if (hasFailed) expect(interval?.error, key).not.toBeNull()
    }
  }
  expectReported(only, night, after, run)
}

/** A complete night has every day; another reports how many failed. */
function expectReported(
  only: readonly string[],
  night: number,
  after: Night['after'],
  { result, left }: Omit<Night, 'night' | 'after'>,
): void {
  const { failed, stoppedBy, unreachable } = result
  const isComplete = failed === 0 && stoppedBy === null && unreachable === null
  const lacking = only.flatMap((resource) =>
    daysBefore(night).filter((day) => after.get(intervalKey(resource, day))?.fetchedAt == null),
  )
  if (isComplete) expect([...lacking, ...left]).toEqual([])
  if (stoppedBy === null && unreachable === null) {
    expect(failed).toBeGreaterThanOrEqual(left.length)
  }
}
