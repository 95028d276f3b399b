import { describe, expect, it } from 'vitest'
import * as adoption from '../../../src/serve/report/adoption.ts'
import { comparedText } from '../../../src/serve/report/view.ts'
import type { Period } from '../../../src/serve/report/data.ts'
import { headlines } from '../../../src/serve/report/headlines.ts'
import * as spend from '../../../src/serve/report/spend.ts'
import type { View } from '../../../src/serve/report/view.ts'
import { view } from './sample.ts'

const NONE = {
  ...{ billable_tokens: 0, tool_calls: 0, user_messages: 0, files: 0 },
  ...{ git_commits: 0, git_prs_created: 0 },
}

function period(days: number, name: Period['period'], values: object) {
  const whole = { days, period: name, team: null, active_users: 10, sessions: 0 }
  return { ...NONE, ...whole, ...values }
}

describe('the comparison of the report', () => {
  const history = {
    first_day: '2025-01-14',
    periods: [
      period(28, 'current', { billable_tokens: 300, git_commits: 5 }),
      period(28, 'previous', { billable_tokens: 200, git_commits: null }),
      period(28, 'year', { billable_tokens: 600, git_commits: 0 }),
      period(28, 'current', { team: 'new' }),
    ],
  }
  const changes = (chosen: Partial<View>) =>
    headlines(view(history, chosen)).flatMap(({ label, change }) =>
      ['Credits', 'Commits'].includes(label) ? [change] : [],
    )

  it.each<[string, Partial<View>, (string | null)[]]>([
    ['with the period before', {}, ['up 50% from 200', 'not known before']],
    ['with the same weeks a year before', { compare: 'year' }, ['down 50% from 600', '0 before']],
    ['with nothing', { compare: 'none' }, [null, null]],
    [
      'of a team that was left out then',
      { team: 'new' },
      ['too few people before', 'too few people before'],
    ],
    [
      'with what lies before the history',
      { days: 364, compare: 'year' },
      ['no earlier data', 'no earlier data'],
    ],
  ])('%s', (_, chosen, expected) => {
    expect(changes(chosen)).toEqual(expected)
  })

  it.each<[string, string[], Partial<View>, (string | null)[]]>([
    [
      'in the chosen period',
      ['2026-03-04', '2026-03-30', '2026-03-31'],
      {},
      ['not compared: 3 days are missing', 'not known before'],
    ],
    [
      'in the compared period',
      ['2026-02-04'],
      {},
      ['not compared: 1 day is missing before', 'not known before'],
    ],
    [
      'in both',
      ['2026-03-03', '2026-03-04', '2026-03-31'],
      {},
      ['not compared: 2 days are missing, and 1 before', 'not known before'],
    ],
    ['in neither', ['2026-02-03'], {}, ['up 50% from 200', 'not known before']],
    ['and nothing is compared', ['2026-03-31'], { compare: 'none' }, ['1 day is missing', null]],
    [
      'and the history is too short to compare',
      ['2026-03-31'],
      { days: 364 },
      ['no earlier data; 1 day is missing', 'no earlier data'],
    ],
  ])('says how many days are missing: %s', (_, days, chosen, expected) => {
    const unknown_days = days.map((day) => ({ day, source: 'tokens' as const }))
    expect(
      changes({ organisation: view({ ...history, unknown_days }).organisation, ...chosen }),
    ).toEqual(expected)
  })

  it('is left out for the days whose responses lack the figure, and for no other figure', () => {
    const unknown_days = [{ day: '2026-03-31', source: 'billable_tokens' as const }]
    const { organisation } = view({ ...history, unknown_days })
    expect(changes({ organisation })).toEqual([
      'not compared: 1 day is missing',
      'not known before',
    ])
  })

  it('of a team is left out for missing days of its people', () => {
    const unknown_days = [
      { day: '2026-03-31', source: 'users' as const },
      { day: '2026-03-30', source: 'tokens' as const },
    ]
    const { organisation } = view({ ...history, unknown_days })
    const missing = 'not compared: 1 day is missing'
    expect(changes({ organisation, team: 'new' })).toEqual([missing, missing])
  })

  it.each<[string, Partial<View>, string]>([
    ['the period before', {}, ', compared with the period before: 4 Feb 2026 to 3 Mar 2026'],
    [
      'a year before',
      { compare: 'year' },
      ', compared with the same weeks a year before: 5 Mar 2025 to 1 Apr 2025',
    ],
    ['nothing', { compare: 'none' }, ''],
    [
      'days before the history',
      { days: 364 },
      '. There is nothing to compare with: the history begins on 14 Jan 2025, and the period before on 3 Apr 2024',
    ],
  ])('says its days: %s', (_, chosen, text) => {
    expect(comparedText(view(history, chosen))).toBe(text)
  })

  it('puts the weekly active people of a year before beside those of the day', () => {
    const day = (name: string, weekly: number) => ({
      ...{ day: name, daily: 1, weekly, monthly: 40, stickiness: 0.5 },
    })
    const active_days = [day('2025-04-01', 20), day('2026-03-31', 37)]
    const rows = (chosen: Partial<View>) =>
      adoption.activeUsers.read(view({ ...history, active_days }, chosen)).rows
    expect(rows({ compare: 'year' })).toMatchObject([{ weekly: 37, compared: 20 }])
    expect(rows({ compare: 'none' })).toMatchObject([{ weekly: 37, compared: null }])
  })

  it('compares a team with itself', () => {
    const periods = [
      period(28, 'current', { team: 'a', billable_tokens: 10 }),
      period(28, 'previous', { team: 'a', billable_tokens: 30 }),
      period(28, 'previous', { team: 'b', billable_tokens: 90 }),
    ]
    const { rows } = spend.teamSpend.read(view({ ...history, periods }))
    expect(rows).toMatchObject([{ team: 'a', billable_tokens: 10, compared: 30 }])
  })

  it.each(['2026-03-31', '2026-03-03'])(
    'leaves out teams if a day of their people is missing: %s',
    (day) => {
      const periods = [
        period(28, 'current', { billable_tokens: 40 }),
        period(28, 'current', { team: 'a', billable_tokens: 10 }),
        period(28, 'previous', { team: 'a', billable_tokens: 30 }),
      ]
      const unknown_days = [{ day, source: 'users' as const }]
      const { rows } = spend.teamSpend.read(view({ ...history, periods, unknown_days }))
      expect(rows).toMatchObject([{ team: 'a', billable_tokens: 10, compared: null }])
    },
  )

  it.each(['users', 'tokens', 'billable_tokens'] as const)(
    'of a team with the organisation is no share of the credits if a day of %s is missing',
    (source) => {
      const periods = [
        period(28, 'current', { billable_tokens: 40 }),
        period(28, 'current', { team: 'a', billable_tokens: 10 }),
      ]
      const finding = (day: string) =>
        spend.teamSpend.read(view({ ...history, periods, unknown_days: [{ day, source }] })).finding
      const note = source === 'users' ? ' (1 day is missing)' : ''
      expect(finding('2026-03-31')).toBe(`Team a used 10 credits in 4 weeks${note}`)
      expect(finding('2026-03-03')).toBe('Team a used 25% of the credits in 4 weeks')
    },
  )
})
