import { expect, it } from 'vitest'
import { trust } from '../../../src/serve/report/headlines.ts'
import { organisation } from './sample.ts'

it.each([
  ['complete', {}, 'good', 'Complete to 31 Mar 2026', []],
  [
    'provisional',
    { verdict: 'provisional', data_through: '2026-03-30', restatements_28d: 1 },
    'provisional',
    'Complete to 30 Mar 2026',
    ['later days to 31 Mar 2026 are only partly here', '1 restatement in 28 days'],
  ],
  [
    'incomplete',
    { verdict: 'incomplete', missing_days: 9 },
    'bad',
    'Data to 31 Mar 2026',
    ['9 days are missing'],
  ],
  ['empty', { data_through: null }, 'bad', 'No day is complete yet', []],
] as const)('the trust strip for data that is %s', (_, rows, level, verdict, notes) => {
  expect(trust(organisation(rows))).toEqual({ level, verdict, notes })
})
