import { describe, expect, test } from 'vitest'
import { expectedMarts, TABLE_NAMES } from './expected.ts'
import { answersOf, DAY, valuesOf } from './samples.ts'

const NEXT = '2026-02-02'

describe('fct_org_day', () => {
  test('has a row for a day that only one endpoint serves, with NULL for the others', () => {
    const { fct_org_day: table } = expectedMarts(
      answersOf({
        tokens: `[{"date":"${DAY}","billable_tokens":9007199254740993}]`,
        activity: `[{"date":"${NEXT}","daily_active_users":0,"sessions":null}]`,
      }),
    )
    const columns = ['activity_date', 'billable_tokens', 'daily_active_users', 'sessions']
    expect(valuesOf(table, ...columns)).toEqual([
      [DAY, 9007199254740993n, null, null],
      [NEXT, null, 0n, null],
    ])
    expect(table.columns).toHaveLength(28)
  })

  test('reads counts in every spelling, and nothing else', () => {
    const { fct_org_day: table } = expectedMarts(
      answersOf({
        activity: `[{"date":"${DAY}","daily_active_users":12.0,"weekly_active_users":"12",
          "monthly_active_users":1.2e1,"sessions":12.5,"messages":"many",
          "user_messages":9223372036854775808}]`,
      }),
    )
    expect(
      valuesOf(
        table,
        'daily_active_users',
        'weekly_active_users',
        'monthly_active_users',
        'sessions',
        'messages',
        'user_messages',
      ),
    ).toEqual([[12n, 12n, 12n, null, null, null]])
  })

  test('names the users of MCP servers mcp_users, and keeps ratios as doubles', () => {
    const { fct_org_day: table } = expectedMarts(
      answersOf({
        tools: `[{"date":"${DAY}","mcp_users_with_mcp":3,"autonomy_ratio_avg":7,"autonomy_ratio_p50":"0.5"}]`,
      }),
    )
    expect(
      valuesOf(
        table,
        'mcp_users',
        'autonomy_ratio_avg',
        'autonomy_ratio_p50',
        'autonomy_ratio_p90',
      ),
    ).toEqual([[3n, 7, 0.5, null]])
  })
})

describe('fct_user_day', () => {
  const marts = expectedMarts(
    answersOf({
      users: `[
        {"user_id":"u1","user_email":"old@x","date":"${DAY}","tool_calls":1,"languages":["go"]},
        {"user_id":"u2","user_email":null,"date":"${DAY}","tool_calls":5},
        {"user_id":"u1","user_email":"new@x","date":"${DAY}","tool_calls":2,"autonomy_ratio":1.5,
         "primary_model":"m","delegation_level":"auto-high","languages":["ts","ts","sql",null]},
        {"user_id":"u1","user_email":"newer@x","date":"${NEXT}","tool_calls":0}
      ]`,
    }),
  )

  test('keeps the later of two rows for one user and day', () => {
    const columns = ['activity_date', 'user_id', 'tool_calls', 'autonomy_ratio', 'primary_model']
    expect(valuesOf(marts.fct_user_day, ...columns)).toEqual([
      [DAY, 'u1', 2n, 1.5, 'm'],
      [DAY, 'u2', 5n, null, null],
      [NEXT, 'u1', 0n, null, null],
    ])
  })

  test('lists each language of a user and day once', () => {
    expect(valuesOf(marts.fct_user_language_day, 'user_id', 'language')).toEqual([
      ['u1', 'sql'],
      ['u1', 'ts'],
    ])
  })

  test('has the latest e-mail address and the first and last active day of a user', () => {
    const columns = ['user_id', 'user_email', 'first_active_date', 'last_active_date']
    expect(valuesOf(marts.dim_user, ...columns)).toEqual([
      ['u1', 'newer@x', DAY, DAY],
      ['u2', null, DAY, DAY],
    ])
  })

  test('has a user who is only in by_user', () => {
    const { dim_user: table } = expectedMarts(
      answersOf({
        tokens: `[{"date":"${DAY}","by_user":[{"user_id":"u9","user_email":"u9@x"}]}]`,
      }),
    )
    expect(valuesOf(table, 'user_id', 'user_email', 'first_active_date')).toEqual([
      ['u9', 'u9@x', null],
    ])
  })
})

describe('fct_model_day', () => {
  test('adds a residual row for credits that no model has', () => {
    const { fct_model_day: table } = expectedMarts(
      answersOf({
        tokens: `[{"date":"${DAY}","billable_tokens":100,"input_tokens":50,"output_tokens":7,"by_model":[
          {"model_id":"a","model_tier":"standard","billable_tokens":60.25,"input_tokens":30,"output_tokens":9},
          {"model_id":"b","billable_tokens":"10.0"},
          {"model_tier":"thinking","billable_tokens":5}]}]`,
      }),
    )
    const columns = ['model_id', 'model_tier', 'billable_tokens', 'input_tokens', 'output_tokens']
    expect(valuesOf(table, ...columns)).toEqual([
      ['a', 'standard', { decimal: '60.25' }, 30n, 9n],
      ['b', null, 10n, null, null],
      ['(unattributed)', null, { decimal: '29.75' }, 20n, { anyOf: [-2n, 0n, null] }],
    ])
  })

  test('has no residual if the parts reach the total, or without a total', () => {
    const day = (date: string, total: string): string =>
      `{"date":"${date}",${total}"by_model":[{"model_id":"a","billable_tokens":5}]}`
    const { fct_model_day: table } = expectedMarts(
      answersOf({ tokens: `[${day(DAY, '"billable_tokens":5,')},${day(NEXT, '')}]` }),
    )
    expect(valuesOf(table, 'activity_date', 'model_id')).toEqual([
      [DAY, 'a'],
      [NEXT, 'a'],
    ])
  })

  test('uses the grouped rows for a day without by_model', () => {
    const { fct_model_day: table } = expectedMarts(
      answersOf({
        tokens: `[{"date":"${DAY}","billable_tokens":9}]`,
        tokensByModel: `[{"date":"${DAY}","group_key":"a","billable_tokens":4,"input_tokens":1}]`,
      }),
    )
    expect(valuesOf(table, 'model_id', 'billable_tokens', 'input_tokens')).toEqual([
      ['a', 4n, 1n],
      ['(unattributed)', 5n, null],
    ])
  })

  test('is all residual if no breakdown was served', () => {
    const marts = expectedMarts(
      answersOf({ tokens: `[{"date":"${DAY}","billable_tokens":9007199254740993}]` }),
    )
    expect(valuesOf(marts.fct_model_day, 'model_id', 'billable_tokens')).toEqual([
      ['(unattributed)', 9007199254740993n],
    ])
    expect(valuesOf(marts.fct_user_model_day, 'user_id', 'model_id', 'billable_tokens')).toEqual([
      ['(unattributed)', '(unattributed)', 9007199254740993n],
    ])
  })
})

test('fct_user_model_day has a residual for a user and one for the day', () => {
  const { fct_user_model_day: table } = expectedMarts(
    answersOf({
      tokens: `[{"date":"${DAY}","billable_tokens":100,"by_user":[
        {"user_id":"u1","billable_tokens":50,"by_model":[
          {"model_id":"a","billable_tokens":20},{"model_id":"b","billable_tokens":30}]},
        {"user_id":"u2","billable_tokens":30,"by_model":[{"model_id":"a","billable_tokens":10}]},
        {"user_id":"u3","billable_tokens":7},
        {"user_id":null,"billable_tokens":5},
        {"user_id":"u4","billable_tokens":0,"by_model":[]}]}]`,
    }),
  )
  expect(valuesOf(table, 'user_id', 'model_id', 'billable_tokens')).toEqual([
    ['u1', 'a', 20n],
    ['u1', 'b', 30n],
    ['u2', 'a', 10n],
    ['u2', '(unattributed)', 20n],
    ['u3', '(unattributed)', 7n],
    ['(unattributed)', '(unattributed)', 13n],
  ])
})

test('every mart of the analytics endpoints exists for responses without rows', () => {
  const marts = expectedMarts(answersOf({}))
  expect(Object.keys(marts)).toEqual([...TABLE_NAMES])
  for (const table of Object.values(marts)) expect(table.rows.size).toBe(0)
})
