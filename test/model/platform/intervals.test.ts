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
  'a computer is deleted when the next night had none and was %s: %s',
  async (status, expected) => {
    const rows = await rowsOf('dim_computer', {
      'staging.stg_platform__computers': COMPUTER,
      'staging.stg_platform__intervals': `select 'org' as org_id, 'computers' as resource,
      date '2026-02-02' as activity_date, '${status}' as status`,
    })
    expect(rows.map((row) => row['is_deleted'])).toEqual([expected])
  },
)

it('a day is final when analytics are, whatever is known of the rest', async () => {
  const fact = `select date '2026-02-01' + cast(n as integer) as activity_date from range(2) as days (n)`
  const facts = ['fct_org_day', 'fct_user_day', 'fct_model_day', 'fct_tool_day', 'fct_client_day']
  const intervals = `from (values
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
