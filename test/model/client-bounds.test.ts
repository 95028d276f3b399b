import { expect, it } from 'vitest'
import { failuresOf } from './alone.ts'

it.each([
  ['accepts a minimum below the maximum', '5, 0, 2', []],
  ['accepts equal bounds', '5, 5, 5', []],
  ['accepts unknown bounds', '5, null, null', []],
  ['finds a minimum above the maximum', '5, 3, 2', ['org']],
  ['finds a maximum above the users', '1, 2, 2', ['org']],
  ['finds a negative bound', '5, -1, 2', ['org']],
  ['finds one unknown bound', '5, null, 2', ['org']],
])('the check of the bounds of users on several clients %s', async (_, values, found) => {
  const rows = await failuresOf('assert_client_bounds_hold', {
    fct_client_overlap_day: `select 'org' as org_id, date '2026-02-01' as activity_date, *
      from (values (${values})) as bounds
        (daily_active_users, multi_client_users_min, multi_client_users_max)`,
  })
  expect(rows.map(({ org_id: org }) => org)).toEqual(found)
})
