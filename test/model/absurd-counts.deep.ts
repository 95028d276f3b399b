import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { Database, type Row } from '../../src/lib/duckdb.ts'
import { DOCUMENTED } from '../normalize/documented-rows.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { Lake } from '../support/lake.ts'
import { buildLake } from './lake-build.ts'

const DAYS = ['2026-01-14', '2026-01-15', '2026-01-16'] as const

const SESSION = {
  sessionId: 's',
  status: 'idle',
  messageCount: 0,
  createdAt: 0,
  updatedAt: 0,
  sessionSettings: {
    model: 'm',
    assistantActiveTimeMs: 0,
    tokenUsage: { inputTokens: 0, outputTokens: 0, serviceCredits: 0 },
    inclusiveTokenUsage: { inputTokens: 0, serviceCredits: 0 },
  },
}

const REPORT = {
  reportId: 'r',
  createdAt: 0,
  repoUrl: 'https://x.test/r',
  apps: {},
  report: { a: { numerator: 0, denominator: 1, rationale: 'x' } },
}

const LIMITS = { globalLimit: 0, userLimits: [{ email: 'a@x.test', limit: 0 }] }

/** The row with every number as this text, and every array twice as long. */
function spelled(row: object, number: string): string {
  const doubled = JSON.stringify(row, (key, value: unknown) =>
    isList(value) && key !== 'languages' ? [...value, ...value] : value,
  )
  return doubled.replaceAll(/:-?\d[\d.]*/g, `:${number}`)
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** Lands each number of each resource on one day each. */
async function land(lake: Lake, numbers: readonly string[]): Promise<void> {
  const resources = {
    ...DOCUMENTED,
    sessions: SESSION,
    readiness_reports: REPORT,
    usage_limits: LIMITS,
  }
  for (const [index, day] of DAYS.entries()) {
    const number = numbers[index % numbers.length] ?? '0'
    for (const [resource, row] of Object.entries(resources)) {
      await lake.land(resource, day, `${day}T05:00:00Z`, [spelled(row, number)])
    }
  }
}

async function published(lake: Lake, sql: string): Promise<Row[]> {
  const database = await Database.open(join(lake.data, 'warehouse.duckdb'), { readOnly: true })
  try {
    return await database.rows(sql)
  } finally {
    database.close()
  }
}

/** Numbers by organisation: a model adds none up over several of them. */
const NUMBERS: Readonly<Record<string, readonly string[]>> = {
  'the largest count, then one': ['9223372036854775807', '1', '2'],
  'the smallest count, then minus one': ['-9223372036854775808', '-1', '1'],
  'the largest and the smallest count': ['9223372036854775807', '-9223372036854775808', '0'],
  'numbers that only a double holds': ['1.7976931348623157e308', '1e308', '1'],
  'the most credits': ['9999999999999999999999.999999', '1', '0.000001'],
  'the fewest credits': ['-9999999999999999999999.999999', '-1', '-0.000001'],
  'numbers that a double rounds': ['9007199254740993', '9007199254740993.0', '0.5'],
}

describe('extreme numbers', () => {
  it('do not prevent publishing, whatever the organisation is served', async () => {
    const folder = await temporaryFolder()
    const lakes: Lake[] = []
    for (const [orgId, numbers] of Object.entries(NUMBERS)) {
      const lake = await Lake.open(folder, orgId)
      await land(lake, numbers)
      lakes.push(lake)
    }
    const [lake, ...others] = lakes
    if (lake === undefined) throw new Error('there is no organisation')
    const result = await buildLake(lake, parseDay(DAYS[2], 'the last day'), {}, others)
    expect(result.checks.filter(({ status }) => status === 'fail')).toEqual([])
    const days = 'select org_id, count(*) as days from main.fct_org_day group by 1 order by 1'
    expect(await published(lake, days)).toEqual(
      Object.keys(NUMBERS)
        .sort()
        .map((org_id) => ({ org_id, days: String(DAYS.length) })),
    )
  })

  it('make a sum that does not fit NULL, keep other values, and are reported', async () => {
    const lake = await Lake.open()
    const row = { ...DOCUMENTED.users, sessions: 2, tool_calls: 5 }
    await lake.land('users', DAYS[0], `${DAYS[0]}T05:00:00Z`, [
      JSON.stringify(row).replace('"tool_calls":5', '"tool_calls":9223372036854775807'),
    ])
    await lake.land('users', DAYS[1], `${DAYS[1]}T05:00:00Z`, [row])
    const { checks } = await buildLake(lake, parseDay(DAYS[1], 'the last day'))
    expect(
      await published(lake, 'select tool_calls_28d, sessions_28d from main.mart_user_28d'),
    ).toEqual([{ tool_calls_28d: null, sessions_28d: '4' }])
    expect(
      await published(lake, 'select tool_calls from main.fct_user_day order by activity_date'),
    ).toEqual([{ tool_calls: '9223372036854775807' }, { tool_calls: '5' }])
    expect(checks.filter(({ status }) => status === 'warn').map(({ check }) => check)).toContain(
      'assert_counts_can_be_summed',
    )
    expect(
      await published(
        lake,
        'select table_name, column_name, activity_date, largest from audit.assert_counts_can_be_summed',
      ),
    ).toEqual([
      {
        table_name: 'users',
        column_name: 'tool_calls',
        activity_date: DAYS[0],
        largest: '9223372036854775807',
      },
    ])
  })
})
