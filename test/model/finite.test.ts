import { expect, it } from 'vitest'
import { ChecksFailedError } from '../../src/lib/errors.ts'
import { serve, WITH_RATIO } from './daily.ts'
import { Bench, TINY, type Files } from './fixture.ts'

const MART = TINY['models/marts/fct_user.yml'] ?? ''

/** TINY with a ratio of its sessions to something. */
function divided(by: string): Files {
  return {
    ...TINY,
    'models/marts/fct_user.sql': `select user_id, sessions, sessions / ${by} as ratio
from {{ ref('stg_user') }}
`,
    'models/marts/fct_user.yml': `${MART}      - name: ratio
        description: A ratio.
`,
  }
}

async function failureOf(work: Promise<unknown>): Promise<ChecksFailedError> {
  try {
    await work
  } catch (error) {
    if (error instanceof ChecksFailedError) return error
    throw error
  }
  throw new Error('it did not fail')
}

it.each([
  ['a number by zero', '(sessions - 5)', '1 row'],
  ['zero by zero', '(sessions * 0)', '3 rows'],
])('a model that divides %s is reported, and nothing is published', async (_, by, rows) => {
  const bench = await Bench.open()
  await bench.build(divided('2'))
  const error = await failureOf(bench.build(divided(by)))
  expect(error.message).toBe(
    `models/marts/fct_user.sql: model 'fct_user': column 'ratio' is infinite or not a number in ${rows}, for example after a division by zero`,
  )
  expect(error.hint).toContain('divide by nullif(…, 0)')
  expect(await bench.rows('select ratio from fct_user order by 1')).toEqual([
    { ratio: 0 },
    { ratio: 1.5 },
    { ratio: 2.5 },
  ])
})

it('a model that divides by NULL instead is published', async () => {
  const bench = await Bench.open()
  await bench.build(divided('nullif(sessions - 5, 0)'))
  expect(await bench.rows('select ratio from fct_user where user_id = $$u3$$')).toEqual([
    { ratio: null },
  ])
})

it('the new rows of an incremental model are checked for infinite numbers', async () => {
  const bench = await Bench.open()
  await serve(bench, [['a', '2026-01-14', 'u1', 1, 'v1']])
  await bench.build(WITH_RATIO)
  await serve(bench, [
    ['a', '2026-01-14', 'u1', 1, 'v1'],
    ['a', '2026-01-15', 'u1', 2, 'v1'],
  ])
  const error = await failureOf(bench.build(WITH_RATIO))
  expect(error.message).toContain("model 'fct_user_day': column 'ratio' is infinite")
  expect(await bench.rows('select count(*) as days from fct_user_day')).toEqual([{ days: '1' }])
})
