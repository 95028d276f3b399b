import { expect, it } from 'vitest'
import { rowsOf } from '../alone.ts'

const COMPUTER = `select 'org' as org_id, 'c1' as computer_id, 'box' as computer_name,
  'byom' as provider_type, cast(null as timestamptz) as created_at, 'h' as host_id,
  'box.example' as hostname, 'active' as status, 'dev' as remote_user,
  date '2026-02-01' as activity_date`

it.each([
  ['empty', true],
  ['landed', true],
  ['failed', false],
  ['missing', false],
])(
  'a computer counts as deleted when the next night lacks it and was %s: %s',
  async (status, expected) => {
    const rows = await rowsOf('dim_computer', {
      'staging.stg_platform__computers': COMPUTER,
      'staging.stg_platform__intervals': `select 'org' as org_id, 'computers' as resource,
      date '2026-02-02' as activity_date, '${status}' as status`,
    })
    expect(rows.map((row) => row['is_deleted'])).toEqual([expected])
  },
)

it('a day is final when all of its analytics are, whatever the entity resources are', async () => {
  const fact = `select 'org' as org_id, date '2026-02-01' + cast(n as integer) as activity_date
    from range(2) as days (n)`
  const facts = ['fct_org_day', 'fct_user_day', 'fct_model_day', 'fct_tool_day', 'fct_client_day']
  const intervals = `select 'org' as org_id, *, 'landed' as status from (values
    ('users', date '2026-02-01', true), ('tokens', date '2026-02-01', true),
    ('computers', date '2026-02-01', false),
    ('users', date '2026-02-02', true), ('tokens', date '2026-02-02', false)
  ) as intervals (resource, activity_date, is_settled)`
  const rows = await rowsOf('dim_date', {
    ...Object.fromEntries(facts.map((name) => [name, fact])),
    'staging.stg_platform__intervals': intervals,
  })
  expect(rows.map((row) => row['is_final'])).toEqual([true, false])
})

it.each([
  ['landed', true],
  ['empty', true],
  ['failed', false],
  ['missing', false],
])(
  'a day is complete when every analytics resource was answered, the last one %s: %s',
  async (status, expected) => {
    const fact = "select 'org' as org_id, date '2026-02-01' as activity_date"
    const facts = ['fct_org_day', 'fct_user_day', 'fct_model_day', 'fct_tool_day', 'fct_client_day']
    const rows = await rowsOf('dim_date', {
      ...Object.fromEntries(facts.map((name) => [name, fact])),
      'staging.stg_platform__intervals': `select 'org' as org_id, *,
        date '2026-02-01' as activity_date, false as is_settled
      from (values ('users', 'landed'), ('tokens', '${status}'), ('computers', 'missing'))
        as intervals (resource, status)`,
    })
    expect(rows.map((row) => row['is_complete'])).toEqual([expected])
  },
)

it.each([
  ...['tokens', 'tokens_by_model', 'tools', 'tools_by_name', 'activity', 'activity_by_client'],
  ...['productivity', 'users'],
])('a day is neither complete nor final while %s failed', async (resource) => {
  const fact = "select 'org' as org_id, date '2026-02-01' as activity_date"
  const facts = ['fct_org_day', 'fct_user_day', 'fct_model_day', 'fct_tool_day', 'fct_client_day']
  const rows = await rowsOf('dim_date', {
    ...Object.fromEntries(facts.map((name) => [name, fact])),
    'staging.stg_platform__intervals': `select 'org' as org_id, *,
        date '2026-02-01' as activity_date, status = 'landed' as is_settled
      from (values ('other', 'landed'), ('users', 'landed'), ('tokens', 'landed'),
        ('${resource}', 'failed')) as intervals (resource, status)`,
  })
  expect(rows).toMatchObject([{ is_complete: false, is_final: false }])
})

it('the days of an organisation begin, end and become final by its own intervals', async () => {
  const days = `from (values ('a', date '2026-02-01'), ('a', date '2026-02-02'),
    ('b', date '2026-02-02'), ('b', date '2026-02-03')) as days (org_id, activity_date)`
  const facts = ['fct_org_day', 'fct_user_day', 'fct_model_day', 'fct_tool_day', 'fct_client_day']
  const rows = await rowsOf('dim_date', {
    ...Object.fromEntries(facts.map((name) => [name, days])),
    'staging.stg_platform__intervals': `select *, 'users' as resource from (values
      ('a', date '2026-02-01', true, 'landed'), ('a', date '2026-02-02', false, 'landed'),
      ('b', date '2026-02-02', true, 'missing'), ('b', date '2026-02-03', true, 'empty')
    ) as intervals (org_id, activity_date, is_settled, status)`,
  })
  expect(
    rows.map((row) => [row['org_id'], row['activity_date'], row['is_final'], row['is_complete']]),
  ).toEqual([
    ['a', '2026-02-01', true, true],
    ['a', '2026-02-02', false, true],
    ['b', '2026-02-02', true, false],
    ['b', '2026-02-03', true, true],
  ])
})

it('the known days of a month are those that were answered, with rows or without', async () => {
  const rows = await rowsOf('int_resource_months', {
    'staging.stg_platform__intervals': `select 'org' as org_id, 'tokens' as resource, *
      from (values (date '2024-02-03', 'landed'), (date '2024-02-04', 'empty'),
        (date '2024-02-05', 'failed'), (date '2024-02-06', 'missing'),
        (date '2024-03-01', 'missing')) as intervals (activity_date, status)`,
  })
  expect(rows).toEqual([
    {
      org_id: 'org',
      resource: 'tokens',
      month_start_date: '2024-02-01',
      known_days: '2',
      days_in_month: '29',
    },
  ])
})
