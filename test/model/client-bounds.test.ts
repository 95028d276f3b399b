import { expect, it } from 'vitest'
import { wrongsOf } from './alone.ts'

it.each([
  ['as they must be', '5, 0, 2', []],
  ['equal', '5, 5, 5', []],
  ['unknown', '5, null, null', []],
  ['the minimum above the maximum', '5, 3, 2', ['org']],
  ['the maximum above the users', '1, 2, 2', ['org']],
  ['below zero', '5, -1, 2', ['org']],
  ['one of them unknown', '5, null, 2', ['org']],
])('the check of the bounds of users on several clients: %s', async (_, values, found) => {
  const rows = await wrongsOf('assert_client_bounds_hold', {
    fct_client_overlap_day: `select 'org' as org_id, date '2026-02-01' as activity_date, *
      from (values (${values})) as bounds
        (daily_active_users, multi_client_users_min, multi_client_users_max)`,
  })
  expect(rows.map(({ org_id: org }) => org)).toEqual(found)
})
