import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addDays, parseDay } from '../../src/lib/days.ts'
import { ChecksFailedError } from '../../src/lib/errors.ts'
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

  it('fails the build with its name, and the published warehouse stays', async () => {
    const lake = await Lake.open()
    const last = addDays(FIRST, 14)
    for (let day = FIRST; day < last; day = addDays(day, 1)) {
      const row = {
        date: day,
        files_created: 1,
        files_edited: 2,
        git_commits: 3,
        git_prs_created: 0,
      }
      await lake.land('productivity', day, `${addDays(day, 1)}T05:00:00Z`, [row])
    }
    await buildLake(lake, addDays(last, -1))
    const row = { date: last, files_created: 1, files_edited: 2, commits: 3, git_prs_created: 0 }
    await lake.land('productivity', last, `${addDays(last, 1)}T05:00:00Z`, [row])
    const error: unknown = await buildLake(lake, last).catch((reason: unknown) => reason)
    if (!(error instanceof ChecksFailedError)) throw error
    expect(error.message).toBe('a check failed: assert_fields_keep_coming (1 row)')
    expect(error.hint).toContain('git_commits')
    const database = await Database.open(join(lake.data, 'warehouse.duckdb'), { readOnly: true })
    expect(await database.rows('select max(activity_date) as day from fct_org_day')).toEqual([
      { day: addDays(last, -1) },
    ])
    database.close()
  })
})
