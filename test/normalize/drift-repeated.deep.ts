import { expect, it } from 'vitest'
import { DOCUMENTED } from './documented-rows.ts'
import { Lake } from '../support/lake.ts'

const DAY = '2026-01-14'
const LATER = '2026-04-01T03:00:00Z'

const FINDINGS = `select resource, path, kind, expected, served_type, served_length, occurrences,
  request_id from {schema_drift} where path is not null order by all`

const USER = DOCUMENTED.users

/** The finding for rows that differ. */
function repeated(resource: string, path: string, occurrences: number): object {
  return {
    resource,
    path,
    kind: 'repeated',
    expected: 'string',
    served_type: 'string',
    served_length: null,
    occurrences: String(occurrences),
    request_id: `req ${LATER}`,
  }
}

async function landed(resource: string, ...items: readonly unknown[]): Promise<Lake> {
  const lake = await Lake.open()
  await lake.land(resource, DAY, LATER, items)
  await lake.normalize()
  return lake
}

it('different rows of one user and day are reported, and the last one is read', async () => {
  const lake = await landed(
    'users',
    { ...USER, tool_calls: 100, billable_tokens: 100.5 },
    { ...USER, user_id: 'another' },
    { ...USER, tool_calls: 1, billable_tokens: 50.25 },
  )
  expect(await lake.rows('select user_id, tool_calls from {users} order by 1')).toEqual([
    { user_id: 'another', tool_calls: String(USER.tool_calls) },
    { user_id: USER.user_id, tool_calls: '1' },
  ])
  expect(await lake.rows(FINDINGS)).toEqual([repeated('users', '$.user_id', 1)])
  expect(lake.events).toContainEqual({
    type: 'warning',
    about: 'drift',
    kind: 'repeated',
    message: `org/1: $.user_id of users is the same in different rows of one day, and only the last one is read: served since ${DAY}, 1 day`,
  })
})

it('each replaced row counts once, whatever else is found', async () => {
  const rows = [1, 2, 1, 3].map((sessions) => ({ ...USER, sessions, agents: 4 }))
  const found = await (await landed('users', ...rows)).rows(FINDINGS)
  expect(found).toContainEqual(repeated('users', '$.user_id', 2))
  expect(found.map(({ kind }) => kind)).toEqual(['unknown', 'repeated'])
})

it('different rows of a user id with half a surrogate pair are reported too', async () => {
  const rows = [1, 2].map((sessions) =>
    JSON.stringify({ ...USER, sessions, user_id: 'half' }).replace('half', '\\ud83d'),
  )
  expect(await (await landed('users', ...rows)).rows(FINDINGS)).toContainEqual(
    repeated('users', '$.user_id', 1),
  )
})

it('equal rows of a user are not reported, nor are rows without a user id', async () => {
  const turned = Object.fromEntries(Object.entries(USER).reverse())
  const withoutUser = [1, 2].map((sessions) => ({ ...USER, user_id: '', sessions }))
  const lake = await landed('users', USER, USER, turned, ...withoutUser)
  expect((await lake.rows(FINDINGS)).map(({ kind }) => kind)).toEqual(['unnamed'])
})

it.each([
  ['tools', '$.date', { tool_calls: 4 }],
  ['tokens', '$.date', { billable_tokens: 11 }],
  ['activity', '$.date', { sessions: 7 }],
  ['productivity', '$.date', { git_commits: 7 }],
  ['tools_by_name', '$.group_key', { tool_calls: 4 }],
  ['activity_by_client', '$.group_key', { daily_active_users: 4 }],
] as const)('different rows of one day of %s are reported', async (resource, path, fields) => {
  const row = DOCUMENTED[resource]
  expect(await (await landed(resource, row, row)).rows(FINDINGS)).toEqual([])
  const lake = await landed(resource, row, { ...row, ...fields })
  expect(await lake.rows(FINDINGS)).toEqual([repeated(resource, path, 1)])
})
