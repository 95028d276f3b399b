import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Intercept } from '../../src/emulator/emulator.ts'
import { command, type Outcome } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

/** The platform's clock: its last day is the 16th, its first the 14th. */
const NOW = Date.parse('2026-01-17T05:00:00Z')

/** Replaces numbers in the rows of users, by day and field. */
function serving(numbers: Readonly<Record<string, Readonly<Record<string, string>>>>): Intercept {
  return async ({ path, query, answer }) => {
    const fields = path.endsWith('/users') ? numbers[query.get('startDate') ?? ''] : undefined
    const response = await answer()
    if (fields === undefined) return response
    let text = await response.text()
    for (const [field, number] of Object.entries(fields)) {
      text = text.replace(new RegExp(`"${field}":[-+.0-9e]+`), `"${field}":${number}`)
    }
    return new Response(text, { status: response.status, headers: response.headers })
  }
}

async function stage(intercept: Intercept) {
  const emulator = await standIn({ users: 6, now: () => NOW, intercept })
  const data = await temporaryFolder()
  const environment = environmentOf(emulator, data)
  const run = (...args: string[]): Promise<Outcome> => command(args, environment)
  const query = async (sql: string): Promise<unknown> => {
    const { out, err, code } = await run('query', sql, '--format', 'json')
    expect(code, err).toBe(0)
    return JSON.parse(out) as unknown
  }
  return { data, run, query }
}

async function recordedWarnings(data: string): Promise<string> {
  const [record = ''] = await readdir(join(data, 'runs'))
  return readFile(join(data, 'runs', record), 'utf8')
}

it('law 1: numbers reach the marts as served, and those that are rounded or do not fit are reported', async () => {
  const { data, run, query } = await stage(
    serving({
      '2026-01-14': { billable_tokens: '12345678901.654321', files_edited: '9223372036854775807' },
      '2026-01-15': { billable_tokens: '9858.75', tool_calls: '1.5' },
      '2026-01-16': { billable_tokens: '0.1234567' },
    }),
  )
  const night = await run('run', '--log', 'none')
  expect(night, night.err).toMatchObject({ code: 0 })
  expect(night.out).toContain('warned: assert_counts_can_be_summed, 1 row')
  expect(await recordedWarnings(data)).toContain(
    'org_demo: files_edited of users is 9223372036854775807 on 2026-01-14; a sum with it that does not fit is NULL',
  )

  const [first, second] = ['12345678901.654321', '9858.75']
  expect(
    await query(`select activity_date, billable_tokens from fct_user_day
      where billable_tokens in (${first}, ${second}, 0.123457) order by 1`),
  ).toEqual([
    { activity_date: '2026-01-14', billable_tokens: first },
    { activity_date: '2026-01-15', billable_tokens: 9858.75 },
    { activity_date: '2026-01-16', billable_tokens: 0.123457 },
  ])
  expect(
    await query(`select activity_date, count(*) as unknown from fct_user_day
      where billable_tokens is null or tool_calls is null group by 1 order by 1`),
  ).toEqual([{ activity_date: '2026-01-15', unknown: 1 }])
  expect(
    await query(`select path, kind from meta.schema_drift
      where resource = 'users' and kind in ('unreadable', 'rounded') order by 1`),
  ).toEqual([
    { path: '$.billable_tokens', kind: 'rounded' },
    { path: '$.tool_calls', kind: 'unreadable' },
  ])

  const verified = await run('verify', '--all', '--log', 'none')
  expect(verified, verified.err).toMatchObject({ code: 0 })
  expect(verified.out).toContain('Equal, except for values that it cannot store')
  expect(verified.out).toContain('$.tool_calls of users 2026-01-15')
  expect(verified.out).toContain('$.billable_tokens of users 2026-01-16')

  const exported = await run('export', 'csv', '--log', 'none')
  expect(exported, exported.err).toMatchObject({ code: 0 })
  const csv = await readFile(join(data, 'exports', 'csv', 'fct_user_day.csv'), 'utf8')
  expect(csv).toContain(',9858.75,')
  expect(csv).toContain(`,${first},`)
})
