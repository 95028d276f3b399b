import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addDays, parseDay } from '../../src/lib/days.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { Lake } from '../support/lake.ts'
import { failuresOf } from './alone.ts'
import { buildLake } from './lake-build.ts'

const FIRST = parseDay('2026-02-01', 'the first day')

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'staging.stg_platform__tokens_days': ['billable_tokens', 'input_tokens', 'output_tokens'],
  'staging.stg_platform__tools_days': [
    'tool_calls',
    'skills_invocations',
    'slash_commands_invocations',
    'hooks_invocations',
  ],
  'staging.stg_platform__activity_days': [
    'daily_active_users',
    'weekly_active_users',
    'monthly_active_users',
    'sessions',
    'messages',
    'user_messages',
  ],
  'staging.stg_platform__productivity_days': [
    'files_created',
    'files_edited',
    'git_commits',
    'git_prs_created',
  ],
  'intermediate.int_user_day_totals': [
    'billable_tokens',
    'tool_calls',
    'sessions',
    'messages',
    'user_messages',
  ],
}

/** The reported fields when `git_commits` is sent on these days (x) and not on those (.). */
async function reportedOf(days: string): Promise<unknown[]> {
  const relations = Object.entries(FIELDS).map(([relation, fields]) => {
    const rows = Array.from(days, (sent, index) => {
      const values = fields.map((field) => (field === 'git_commits' && sent === '.' ? 'null' : '1'))
      return `('org', date '${addDays(FIRST, index)}', ${values.map((v) => `cast(${v} as bigint)`).join(', ')})`
    })
    const columns = ['org_id', 'activity_date', ...fields].join(', ')
    return [relation, `from (values ${rows.join(', ')}) as served (${columns})`] as const
  })
  const rows = await failuresOf('assert_fields_keep_coming', Object.fromEntries(relations))
  return rows.map(({ resource, field, last_date: last }) => [resource, field, last])
}

describe('a field that is no longer sent', () => {
  const before = 'x'.repeat(14)
  it.each([
    ['is reported', `${before}.`, [['productivity', 'git_commits', '2026-02-14']]],
    ['is reported for three days', `${before}...`, [['productivity', 'git_commits', '2026-02-14']]],
    ['is no longer reported after that', `${before}....`, []],
    ['is not reported when it is sent again', `${before}.x`, []],
    ['is not reported when it was not always sent', 'xxxxxxx.xxxxxx.', []],
    ['is not reported when it was never sent', '...............', []],
  ])('%s: %s', async (_, days, reported) => {
    expect(await reportedOf(days)).toEqual(reported)
  })

  it('is a warning: the missing value is NULL, and the other values of the day are published', async () => {
    const lake = await Lake.open()
    const last = addDays(FIRST, 14)
    for (let day = FIRST; day <= last; day = addDays(day, 1)) {
      const commits = day < last ? { git_commits: 3 } : { commits: 3 }
      const row = { date: day, files_created: 1, files_edited: 2, git_prs_created: 0, ...commits }
      await lake.land('productivity', day, `${addDays(day, 1)}T05:00:00Z`, [row])
    }
    const { checks } = await buildLake(lake, last)
    const outcome = checks.find(({ check }) => check === 'assert_fields_keep_coming')
    expect(outcome).toMatchObject({ status: 'warn', failures: 1 })
    await using database = await Database.open(join(lake.data, 'warehouse.duckdb'), {
      readOnly: true,
    })
    const newest = 'from fct_org_day order by activity_date desc limit 1'
    expect(
      await database.rows(`select activity_date, git_commits, files_edited ${newest}`),
    ).toEqual([{ activity_date: last, git_commits: null, files_edited: '2' }])
    expect(await database.rows('select field from audit.assert_fields_keep_coming')).toEqual([
      { field: 'git_commits' },
    ])
  })
})
