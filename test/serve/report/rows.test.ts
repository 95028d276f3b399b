import { expect, it } from 'vitest'
import { activeUsers } from '../../../src/serve/report/adoption.ts'
import { policy } from '../../../src/serve/report/oversight.ts'
import { csvName, csvText, listed } from '../../../src/serve/report/page/rows.ts'
import { daysAfter } from '../../../src/serve/report/view.ts'
import { view } from './sample.ts'

it('the table of a long history lists the newest days', () => {
  const active_days = Array.from({ length: 250 }, (_, at) => ({
    ...{ day: daysAfter('2025-07-25', at), daily: 1, weekly: 1, monthly: 1, stickiness: 1 },
  }))
  const { rows } = activeUsers.read(view({ active_days }, { days: 364 }))
  const { shown, note } = listed(activeUsers, rows)
  expect(shown).toEqual(rows.slice(50))
  expect(note).toBe('50 earlier rows are in the file.')
})

it('the table of rules lists those that were broken, also if many are never used', () => {
  const rules = Array.from({ length: 201 }, (_, at) => ({
    ...{ policy: 'models', value: `m${at}`, status: 'unused' as const, forbidden_use_days: 0 },
    ...{ forbidden_amount: null, last_forbidden_use: null, since: null, changed_by: null },
  }))
  const [first, ...others] = rules
  const used = { status: 'not_allowed' as const, forbidden_use_days: 3 }
  const { rows } = policy.read(view({ policy: first ? [{ ...first, ...used }, ...others] : [] }))
  const { shown, note } = listed(policy, rows)
  expect(shown).toEqual(rows.slice(0, 200))
  expect(note).toBe('1 more row is in the file.')
})

it.each([
  ['org_a', 'seats_org_a_28-days-to-2026-03-31.csv'],
  ['../../etc\\passwd', 'seats_-etc-passwd_28-days-to-2026-03-31.csv'],
  ['con.exe\u0000\u202e: *?"<>|/ü', 'seats_con-exe-_28-days-to-2026-03-31.csv'],
  ['x'.repeat(300), `seats_${'x'.repeat(60)}_28-days-to-2026-03-31.csv`],
])(
  'law 11: the file of a table has a safe name with the organisation and the period: %j',
  (org_id, name) => {
    expect(csvName('seats', view({ org_id }))).toBe(name)
    expect(csvName('seats', view({ org_id, last_day: null }))).toBe(name.replace(/_28.*31/, ''))
  },
)

it('the file of a table opens in a spreadsheet, which runs no name as a formula', () => {
  const chart = { columns: { name: 'Name', calls: 'Calls', isKnown: 'Known' } }
  const names = ['ordinary', ' =HYPERLINK("x")', '＝1+1', '\t1', 'a,"b"']
  const rows = names.map((name, at) => ({ name, calls: at === 0 ? null : -at, isKnown: true }))
  expect(csvText(chart, rows).split('\r\n')).toEqual([
    '\ufeffname,calls,isKnown',
    'ordinary,,true',
    `"' =HYPERLINK(""x"")",-1,true`,
    `'＝1+1,-2,true`,
    `'\t1,-3,true`,
    '"a,""b""",-4,true',
  ])
})

it('the file of a table has no noise of added decimals, and whole numbers exactly', () => {
  const chart = { columns: { credits: 'Credits' } }
  const rows = [0.1 + 0.2, 537523.3499999996, 9007199254740991, 2 / 3].map((credits) => ({
    credits,
  }))
  const [, ...lines] = csvText(chart, rows).split('\r\n')
  expect(lines).toEqual(['0.3', '537523.35', '9007199254740991', '0.666666666666667'])
})
