import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addDays,
  dayOf,
  daysBetween,
  eachDay,
  HISTORY_START,
  startOf,
  type Day,
} from '../../../src/lib/days.ts'
import { ApiError } from '../../../src/client/index.ts'
import { IntervalRecorder } from '../../../src/extract/land/interval-recorder.ts'
import { contentOf } from '../../../src/extract/land/row-lines.ts'
import { probeSize } from '../../../src/extract/plan/window-size.ts'
import { planSync, type FetchTask, type PlanOptions } from '../../../src/extract/plan/sync-plan.ts'
import { DAY_TOTALS, RESOURCES, type Resource } from '../../../src/lake/resources.ts'
import { isOld, isSettled, LedgerFile, type Interval } from '../../../src/lake/ledger.ts'
import type { WindowSize } from '../../../src/lake/state-file.ts'
import type { World } from '../../../src/lib/world.ts'
import { temporaryFolder, testWorld } from '../../support/helpers.ts'
import { interval, ledgerOf } from '../../support/intervals.ts'

const day = (text: string): Day => text as Day
const HOUR = 3_600_000
const only = (name: string): Resource[] => RESOURCES.filter((each) => each.name === name)

/** A window size learned up to 20 days before the clock. */
function anyWindowSize(): fc.Arbitrary<(now: number) => WindowSize> {
  const width = fc.integer({ min: 1, max: 200 })
  return fc
    .tuple(width, fc.option(width), fc.integer({ min: 0, max: 20 }))
    .map(([maxDays, more, ago]) => (now) => {
      const learntAt = now - ago * 24 * HOUR
      const tooWide = more === null ? null : maxDays + more
      return { maxDays, tooWide, learntAt, probedAt: learntAt }
    })
}

/** The totals of days of users, all landed. */
function totalsOf(first: Day, last: Day): Interval[] {
  return DAY_TOTALS.flatMap(({ name }) =>
    eachDay({ first, last }).map((each) => interval(name, each)),
  )
}

function at(today: string, change: Partial<PlanOptions> = {}): PlanOptions {
  return { today: day(today), now: startOf(day(today)) + 2 * HOUR, ...change }
}

const windows = (tasks: readonly FetchTask[]): string[] =>
  tasks.map(({ resource, range }) => `${resource.name} ${range.first}..${range.last}`)
const reasons = (tasks: readonly FetchTask[]): string[] =>
  tasks.flatMap(({ days }) => days.map((each) => `${each.day} ${each.reason}${each.age ?? ''}`))

describe('the plan', () => {
  it('requests the whole history of a day endpoint in one window, up to yesterday', () => {
    const plan = planSync(new Map(), at('2026-11-21', { resources: only('tokens') }))
    expect(windows(plan)).toEqual(['tokens 2026-01-14..2026-11-20'])
  })

  it('requests users one day at a time, the newest first', () => {
    const ledger = ledgerOf(totalsOf(HISTORY_START, day('2026-01-16')))
    const plan = planSync(ledger, at('2026-01-17', { resources: only('users') }))
    expect(windows(plan)).toEqual([
      'users 2026-01-16..2026-01-16',
      'users 2026-01-15..2026-01-15',
      'users 2026-01-14..2026-01-14',
    ])
  })

  it('requests the totals of these days first if they never landed, even if only users are selected', () => {
    const ledger = ledgerOf([
      interval('activity', HISTORY_START),
      interval('activity', day('2026-01-15'), { status: 'failed', fetchedAt: null, file: null }),
    ])
    const options = { resources: only('users'), refetch: true }
    const plan = planSync(ledger, at('2026-01-17', options))
    expect(windows(plan.filter(({ resource }) => resource.name !== 'users'))).toEqual([
      'activity 2026-01-15..2026-01-16',
      'productivity 2026-01-14..2026-01-16',
      'tokens_by_model 2026-01-14..2026-01-16',
    ])
    expect(reasons(plan).slice(0, 2)).toEqual(['2026-01-15 failed', '2026-01-16 missing'])
    expect(reasons(plan).at(-1)).toBe('2026-01-14 forced')
    const others = planSync(ledger, at('2026-01-17', { resources: only('tokens') }))
    expect(windows(others)).toEqual(['tokens 2026-01-14..2026-01-16'])
  })

  it('is empty on the first day of history', () => {
    expect(planSync(new Map(), at('2026-01-14'))).toEqual([])
  })

  it('never requests today or later, nor a day before the history, whatever range is given', () => {
    const within = { first: day('2025-12-01'), last: day('2027-01-01') }
    const plan = planSync(new Map(), at('2026-01-20', { resources: only('tools'), within }))
    expect(windows(plan)).toEqual(['tools 2026-01-14..2026-01-19'])
  })

  it('gives the reason for every day', () => {
    const ledger = ledgerOf([
      ...totalsOf(HISTORY_START, day('2026-01-18')),
      interval('users', day('2026-01-14')),
      interval('users', day('2026-01-15'), { status: 'failed', fetchedAt: null }),
      interval('users', day('2026-01-17')),
    ])
    const plan = planSync(ledger, at('2026-01-19', { resources: only('users') }))
    expect(reasons(plan)).toEqual([
      '2026-01-18 missing',
      '2026-01-17 recheck2',
      '2026-01-16 missing',
      '2026-01-14 recheck3',
      '2026-01-15 failed',
    ])
  })

  it('rechecks a day 2, 3, 7, 14 and 30 days after it, when it is final, and then every 28 days', () => {
    const first = HISTORY_START
    let known = interval('users', first)
    const rechecks: number[] = []
    for (let age = 2; age <= 90; age += 1) {
      const today = addDays(first, age)
      const options = at(today, { resources: only('users'), within: { first, last: first } })
      if (planSync(ledgerOf([known]), options).length === 0) continue
      rechecks.push(age)
      known = { ...known, fetchedAt: options.now }
    }
    expect(rechecks).toEqual([2, 3, 7, 14, 30, 58, 86])
    expect(isSettled(known)).toBe(true)
  })

  it('replaces several missed rechecks by one', () => {
    const totals = totalsOf(HISTORY_START, HISTORY_START)
    const ledger = ledgerOf([...totals, interval('users', HISTORY_START)])
    const within = { first: HISTORY_START, last: HISTORY_START }
    const plan = planSync(ledger, at('2026-01-30', { resources: only('users'), within }))
    expect(reasons(plan)).toEqual(['2026-01-14 recheck14'])
  })

  it('requests no final days between missing ones', () => {
    const settled = eachDay({ first: day('2026-02-01'), last: day('2026-02-10') }).map((each) =>
      interval('tokens', each, { fetchedAt: startOf(day('2026-06-01')) }),
    )
    const options = at('2026-06-02', {
      resources: only('tokens'),
      within: { first: day('2026-01-30'), last: day('2026-02-12') },
    })
    expect(windows(planSync(ledgerOf(settled), options))).toEqual([
      'tokens 2026-01-30..2026-01-31',
      'tokens 2026-02-11..2026-02-12',
    ])
  })

  it('requests yesterday and the days due for a recheck in one window', () => {
    const days = eachDay({ first: HISTORY_START, last: day('2026-01-24') })
    const ledger = ledgerOf(
      days.map((each) =>
        interval('tokens', each, { fetchedAt: startOf(day('2026-01-25')) + HOUR }),
      ),
    )
    const plan = planSync(ledger, at('2026-01-26', { resources: only('tokens') }))
    expect(windows(plan)).toEqual(['tokens 2026-01-19..2026-01-25'])
    expect(reasons(plan)).toEqual([
      '2026-01-19 recheck7',
      '2026-01-23 recheck3',
      '2026-01-24 recheck2',
      '2026-01-25 missing',
    ])
  })

  it('requests no window wider than the learned window size, the newest days first', () => {
    const tokens = { maxDays: 4, tooWide: 5, learntAt: 0, probedAt: startOf(day('2026-01-20')) }
    const options = at('2026-01-24', {
      resources: only('tokens'),
      windowSizes: new Map([['tokens', tokens]]),
    })
    expect(windows(planSync(new Map(), options))).toEqual([
      'tokens 2026-01-20..2026-01-23',
      'tokens 2026-01-16..2026-01-19',
      'tokens 2026-01-14..2026-01-15',
    ])
  })

  it.each([
    ['twice as wide', 5, ['2026-01-17..2026-01-24', '2026-01-14..2026-01-16']],
    ['half way to the refused one', 7, ['2026-01-20..2026-01-24', '2026-01-16..2026-01-19']],
    ['twice as wide where no refused size is known', null, ['2026-01-17..2026-01-24']],
  ])('tries one window %s a week after the last refusal', (_, tooWide, expected) => {
    const probedAt = startOf(day('2026-01-18'))
    const tokens = { maxDays: 4, tooWide, learntAt: 0, probedAt }
    const options = at('2026-01-25', {
      resources: only('tokens'),
      windowSizes: new Map([['tokens', tokens]]),
    })
    const asked = windows(planSync(new Map(), options))
    expect(asked.slice(0, expected.length)).toEqual(expected.map((each) => `tokens ${each}`))
  })

  it('requests every day of the range when forced', () => {
    const ledger = ledgerOf([
      interval('tokens', HISTORY_START, { fetchedAt: startOf(day('2026-06-01')) }),
    ])
    const within = { first: HISTORY_START, last: HISTORY_START }
    const plan = planSync(
      ledger,
      at('2026-06-01', { resources: only('tokens'), within, refetch: true }),
    )
    expect(reasons(plan)).toEqual(['2026-01-14 forced'])
  })

  it('rechecks a volume anomaly that awaits confirmation after an hour, and not sooner', () => {
    const today = day('2026-06-02')
    const now = startOf(today) + 5 * HOUR
    const planAt = (seenAt: number): string[] => {
      const suspect = { digest: 'other', rowCount: 0, seenAt }
      const known = interval('users', HISTORY_START, { fetchedAt: startOf(today), suspect })
      const within = { first: HISTORY_START, last: HISTORY_START }
      const options = at(today, { now, resources: only('users'), within })
      const totals = totalsOf(HISTORY_START, HISTORY_START)
      return reasons(planSync(ledgerOf([...totals, known]), options))
    }
    expect(planAt(now - HOUR + 1)).toEqual([])
    expect(planAt(now - HOUR)).toEqual(['2026-01-14 recheck139'])
    // recorded by a run whose clock was ahead
    expect(planAt(now + HOUR)).toEqual([])
    expect(planAt(now + 365 * 24 * HOUR)).toEqual(['2026-01-14 recheck139'])
  })

  it('requests every day that has not landed once, in windows of the learned size', () => {
    const state = fc.constantFrom('settled', 'young', 'failed', 'missing')
    fc.assert(
      fc.property(
        fc.array(state, { minLength: 1, maxLength: 120 }),
        anyWindowSize(),
        (states, cap) => {
          const today = addDays(HISTORY_START, states.length)
          const now = startOf(today) + 2 * HOUR
          const ledger = ledgerOf(
            states.flatMap((each, index) => {
              const of = addDays(HISTORY_START, index)
              if (each === 'missing') return []
              if (each === 'failed')
                return [interval('tokens', of, { status: each, fetchedAt: null })]
              return [interval('tokens', of, each === 'settled' ? { fetchedAt: now } : {})]
            }),
          )
          const tokens = cap(now)
          const windowSizes = new Map([['tokens', tokens]])
          const tasks = planSync(ledger, at(today, { resources: only('tokens'), windowSizes }))
          const asked = tasks.flatMap(({ days }) => days.map((each) => each.day)).sort()
          expect(asked).toEqual([...new Set(asked)])
          const lacking = states.flatMap((each, index) =>
            each === 'failed' || each === 'missing' ? [addDays(HISTORY_START, index)] : [],
          )
          expect(asked).toEqual(expect.arrayContaining(lacking))
          const spans = tasks.map(({ range }) => daysBetween(range.first, range.last) + 1)
          expect(spans.filter((span) => span > tokens.maxDays).length).toBeLessThanOrEqual(1)
          expect(Math.max(0, ...spans)).toBeLessThanOrEqual(probeSize(tokens, now))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('law 2: is empty once executed with the same clock, whatever the ledger held', async () => {
    const [data, world] = [await temporaryFolder(), testWorld()]
    let runs = 0
    const status = fc.constantFrom('landed', 'empty', 'failed', 'missing', 'suspect', 'refused')
    const states = fc.array(fc.tuple(status, fc.integer({ min: 0, max: 160 * 24 })), {
      maxLength: 120,
    })
    await fc.assert(
      fc.asyncProperty(
        states,
        fc.integer({ min: 0, max: 160 }),
        anyWindowSize(),
        async (days, age, cap) => {
          const today = addDays(HISTORY_START, age)
          const windowSizes = new Map(RESOURCES.map(({ name }) => [name, cap(startOf(today))]))
          const options = at(today, { windowSizes })
          const known: Interval[] = []
          for (const { name } of RESOURCES) {
            for (const [index, [state, hours]] of days.entries()) {
              const of = addDays(HISTORY_START, index)
              if (state === 'missing' || of >= today) continue
              const fetchedAt = Math.min(startOf(of) + (24 + hours) * HOUR, options.now)
              const suspect = { digest: 'other', rowCount: 0, seenAt: fetchedAt }
              const change = {
                landed: { fetchedAt },
                empty: { status: 'empty', fetchedAt },
                failed: { status: 'failed', fetchedAt: null },
                suspect: { fetchedAt: startOf(of) + 30 * 24 * HOUR, suspect },
                refused: { fetchedAt: startOf(of) + 24 * HOUR, refusedAt: fetchedAt },
              } as const
              known.push(interval(name, of, change[state]))
            }
          }
          const ledger = await LedgerFile.open(data, `o${(runs += 1)}`, () => undefined)
          await ledger.record(known)
          await recheck(world, ledger, planSync(ledger.intervals, options), options.now)
          expect(planSync(ledger.intervals, options)).toEqual([])
        },
      ),
      { numRuns: 60 },
    )
  })
})

/**
 * Records responses to everything that is planned: most days land; of the final ones, a third comes
 * back much smaller, and a third is refused.
 */
async function recheck(
  world: World,
  ledger: LedgerFile,
  tasks: readonly FetchTask[],
  now: number,
): Promise<void> {
  const rule = { plannedAt: now, isForced: false }
  const recorder = new IntervalRecorder(ledger, world, rule)
  const last = { page: 1, fetchedAt: now, request: '/', requestId: null, runId: 'run' }
  const landed = { content: contentOf([], last), file: 'f', sha256: 's', versions: 1, isNew: true }
  const answer = (name: string, each: Day): Promise<void> => {
    const known = recorder.interval(name, each)
    const kind = Number(each.slice(-2)) % 3
    const isFinal = known !== undefined && isSettled(known) && isOld(each, now)
    if (!isFinal || kind === 0) return recorder.landed(name, [{ ...landed, day: each }])
    if (kind === 1) return recorder.failed(name, [each], REFUSAL)
    const served = { digest: 'smaller', rowCount: 0, seenAt: now }
    return recorder.pending({ known, served, sizeBefore: 1, size: 0 })
  }
  const asked = tasks.flatMap(({ resource, days }) =>
    days.map((each) => [resource.name, each.day] as const),
  )
  await Promise.all(asked.map(([name, each]) => answer(name, each)))
  // the platform answers for some day of each resource: what it refuses is gone, not out of order
  const yesterday = { ...landed, day: dayOf(now - 24 * HOUR) }
  await Promise.all(tasks.map(({ resource }) => recorder.landed(resource.name, [yesterday])))
  await recorder.endRefusals()
}

const problem = { title: null, detail: null, status: null, requestId: null, metadata: null }
const REFUSAL = new ApiError('404', 404, problem)
