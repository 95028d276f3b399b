import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { baseGlob } from '../../src/lake/layout.ts'
import { parseDay } from '../../src/lib/days.ts'
import { literal } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { writeRecord } from '../../src/model/shared/meta.ts'
import type { Organisation } from '../../src/serve/report/data.ts'
import { readReport } from '../../src/serve/report/read.ts'
import { writeWarehouse } from '../serve/support.ts'
import { folderOfFile } from '../support/folders.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { buildLake } from '../model/lake-build.ts'
import { Lake } from '../support/lake.ts'
import { rowsIn } from './golden-case.ts'
import { landGolden } from './land.ts'

const CASE = join(packageRoot, 'test', 'golden', 'weeks')

const REQUEST = { organisations: ['org/1'], withPeople: false, now: 0, version: '1', metrics: [] }

let warehouse: string
let people: Organisation
let groups: Organisation
beforeAll(async () => {
  const lake = await Lake.open(await folderOfFile())
  await landGolden(lake, CASE)
  await cp(join(CASE, 'seeds'), join(lake.data, 'seeds'), { recursive: true })
  const intervals = `read_parquet(${literal(baseGlob(lake.data, 'intervals'))}, hive_partitioning = false)`
  await buildLake(lake, parseDay('2027-02-14', 'the last day'), {
    meta: (db) => writeRecord(db, intervals, [], { runId: 'run-1', builtAt: 0, asOf: null }),
  })
  warehouse = join(lake.data, 'warehouse.duckdb')
  const read = async (withPeople: boolean): Promise<Organisation> => {
    const data = await readReport({ ...REQUEST, withPeople, warehouse })
    return data.organisations[0] ?? expect.fail('the organisation is not there')
  }
  people = await read(true)
  groups = await read(false)
})

/** The rows of a mart that an independent script expects. */
async function expected(mart: string): Promise<Record<string, unknown>[]> {
  const rows = await rowsIn(join(CASE, 'expected'), mart)
  return z.array(z.record(z.string(), z.unknown())).parse(rows)
}

function numberOf(cell: unknown): number | null {
  return cell === null ? null : Number(cell)
}

describe('the report of the golden lake of weeks', () => {
  it('has the readiness of each repository and day, without reports that have no time', () => {
    const repository = { repository: 'git.example/a' }
    expect(groups.readiness).toEqual([
      { ...repository, day: '2027-01-10', passing: 6, evaluated: 7, pass_rate: 0.8571 },
      { ...repository, day: '2027-02-14', passing: 5, evaluated: 6, pass_rate: 0.8333 },
    ])
  })

  it('has the days of the newest month with its forecast', async () => {
    const own = (await expected('mart_budget_forecast')).filter(
      (row) => row['month_start_date'] === '2027-02-01',
    )
    expect(groups.forecast_days).toEqual(
      own.map((row) => ({
        month: '2027-02',
        day: row['as_of_date'],
        days_left: row['days_left'],
        month_to_date: Number(row['month_to_date_billable_tokens']),
        p10: numberOf(row['forecast_billable_tokens_p10']),
        p50: numberOf(row['forecast_billable_tokens_p50']),
        p90: numberOf(row['forecast_billable_tokens_p90']),
        credit_limit: numberOf(row['credit_limit']),
        exhaustion_day: row['exhaustion_date'],
        missing_days:
          Number(row['days_in_month']) - Number(row['days_left']) - Number(row['known_days']),
      })),
    )
  })

  it('has the mean error of the forecasts of each past month', async () => {
    const own = (await expected('mart_budget_forecast')).filter(
      (row) => row['absolute_percentage_error'] !== null,
    )
    const months = new Set(own.map((row) => String(row['month_start_date']).slice(0, 7)))
    expect(groups.forecast_months.map(({ month }) => month)).toEqual([...months].sort())
    for (const { month, forecasts, error, within_band } of groups.forecast_months) {
      const days = own.filter((row) => String(row['month_start_date']).startsWith(month))
      const errors = days.map((row) => Number(row['absolute_percentage_error']))
      expect(forecasts).toBe(days.length)
      expect(error).toBeCloseTo(errors.reduce((a, b) => a + b) / days.length, 3)
      expect(within_band).toBe(days.filter((row) => row['is_within_band'] === true).length)
    }
  })

  it('compares the current month on the days that are known in both months', async () => {
    const [both] = (await expected('mart_spend_bridge')).filter(
      (row) => row['month_start_date'] === '2027-02-01',
    )
    expect(groups.compared_month).toEqual([
      {
        ...{ month: '2027-02', previous_month: '2027-01', compared_days: both?.['compared_days'] },
        billable_tokens: Number(both?.['billable_tokens']),
        previous_billable_tokens: Number(both?.['previous_billable_tokens']),
      },
    ])
  })

  it('has the bridge of the last whole month, without components of fewer than five people', () => {
    const month = {
      ...{ month: '2027-01', previous_month: '2026-12', compared_days: 30 },
      ...{ billable_tokens: 90083566.5, previous_billable_tokens: 25648673 },
    }
    expect(groups.bridge).toEqual([
      { ...month, components: 'joined_users,volume', change: 996799.68, users: 14 },
      { ...month, components: 'left_users', change: 0, users: 0 },
      { ...month, components: 'model_mix', change: 418204.65, users: 12 },
      { ...month, components: 'rate', change: -694264.83, users: 12 },
      { ...month, components: '(unattributed)', change: 63714154, users: null },
    ])
  })

  it('has weeks of which every day has landed', async () => {
    const weeks = await expected('mart_output_week')
    const whole = weeks.filter((row) => row['is_complete_week'] === true)
    const names = new Set(whole.map((row) => row['week_start_date']))
    const shown = [
      groups.team_weeks,
      groups.client_weeks,
      groups.cache_weeks,
      groups.model_weeks,
      groups.autonomy_levels,
    ].map((rows) => rows.map(({ week }) => week))
    // the lake has no whole week with users of clients
    expect(shown.map(({ length }) => length > 0)).toEqual([true, false, true, true, true])
    for (const own of shown) {
      expect(own.filter((week) => !names.has(week))).toEqual([])
    }
  })

  it('has the days that each figure lacks, not those on which nothing was used', () => {
    const day = '2027-01-13'
    const sources = ['activity', 'productivity', 'tokens', 'tools', 'users']
    expect(groups.unknown_days).toEqual(sources.map((source) => ({ day, source })))
  })

  it('has the people who joined and left in whole weeks after a whole week', async () => {
    const rows = (await expected('mart_user_lifecycle_week')).filter(
      (row) => row['is_complete_week'] === true && row['is_week_before_complete'] === true,
    )
    expect(groups.lifecycle_weeks.map(({ week, is_left_edge }) => [week, is_left_edge])).toEqual(
      rows.map((row) => [row['week_start_date'], row['is_left_edge']]),
    )
  })

  it('counts the unusual days of people without their names', () => {
    const credits = { billable_tokens: null, usual_low: null, usual_high: null }
    const flag = { scope: 'user', is_above: true, flags: 1, ...credits }
    expect(groups.anomaly_days).toEqual([{ day: '2027-01-28', ...flag }])
    expect(groups.anomaly_people).toEqual([])
    expect(people.anomaly_people).toMatchObject([
      { day: '2027-01-28', person: 'u2', billable_tokens: 63667575.75, score: 5.3 },
    ])
  })

  it('has values that are used though not allowed, that were, and that are allowed and never used', async () => {
    const rows = await expected('mart_policy_usage')
    expect(groups.policy).toHaveLength(
      rows.filter(
        (row) => row['forbidden_use_days'] !== 0 || (row['is_allowed'] === true && !row['is_used']),
      ).length,
    )
    const wiki = {
      ...{ policy: 'mcp_servers', value: 'wiki', status: 'not_allowed' },
      ...{ forbidden_use_days: 10, forbidden_amount: 20 },
      ...{ last_forbidden_use: '2027-02-01', since: '2027-01-04' },
    }
    expect(groups.policy[0]).toEqual({ ...wiki, changed_by: null })
    expect(people.policy[0]).toEqual({ ...wiki, changed_by: 'Bob' })
    expect(groups.policy.filter(({ status }) => status === 'unused')).toMatchObject([
      { policy: 'mcp_servers', value: 'linear', forbidden_use_days: 0, since: '2026-12-10' },
      { policy: 'models', value: 'm3', forbidden_use_days: 0 },
    ])
  })

  it('counts the addresses on an allow-list and the active people who are not on it, without names', () => {
    expect(groups.allowed_emails).toEqual([
      {
        ...{ allow_list: 'managed_computers', listed: 4, listed_active: 2, listed_idle: 1 },
        ...{ listed_never: 1, not_listed: 6, other_domain: 1 },
      },
    ])
    expect(groups.allowed_people).toEqual([])
    expect(people.allowed_people.map(({ email }) => email)).toEqual([
      ...['v2@guest.example', 'v1@x.example', 'v5@x.example', 'v6@x.example'],
      ...['d@x.example', 'v3@x.example'],
    ])
  })

  it('counts the people of each status of their seat', async () => {
    const rows = await expected('mart_seats')
    const statuses = [...new Set(rows.map(({ status }) => String(status)))].sort()
    expect(groups.seats).toEqual(
      statuses.map((status) => ({
        status,
        people: rows.filter((row) => row['status'] === status).length,
      })),
    )
    expect(statuses.length).toBeGreaterThan(2)
  })

  it('has the periods of session retention, the newest first', () => {
    const none = { fetched: 0, oldest_days: null, past: null, changed_by: null }
    expect(groups.session_retention).toEqual([
      {
        ...{ days_kept: 90, since: '2027-01-20', until: null },
        ...{ fetched: 4, oldest_days: 97, past: 1, changed_by: null },
      },
      {
        ...{ days_kept: 30, since: '2026-12-18', until: '2027-01-20' },
        ...{ fetched: 3, oldest_days: 31, past: 1, changed_by: null },
      },
      { ...none, days_kept: null, since: '2026-12-10', until: '2026-12-18' },
    ])
    expect(people.session_retention[0]?.changed_by).toBe('Cleo')
  })

  it('has the recorded share of hook events for each length of period', () => {
    const end = { hook_event: 'SessionEnd', recording_runs: 6, recorded: 4, recorded_share: 0.6667 }
    const rest = { recording_runs: 0, recorded_share: null }
    const one = { ...rest, recorded: 1 }
    expect(groups.hook_recording.slice(0, 7)).toEqual([
      { ...end, days: 28, runs: 6 },
      { ...one, days: 28, hook_event: 'Notification', runs: null, recording_runs: null },
      { ...rest, days: 28, hook_event: 'Stop', runs: 8, recorded: 0 },
      { ...end, days: 91, runs: 14, recorded: 9, recorded_share: 1.5 },
      { ...one, days: 91, hook_event: 'Stop', runs: 32 },
      { ...one, days: 91, hook_event: '(unnamed)', runs: 0 },
      { ...one, days: 91, hook_event: 'Notification', runs: null, recording_runs: null },
    ])
  })

  it('names organisations by their ids, which may contain a comma', async () => {
    const copy = join(await temporaryFolder(), 'warehouse.duckdb')
    await cp(warehouse, copy)
    await writeWarehouse(
      copy,
      `insert into main.mart_data_health
      select health.* replace (id as org_id)
      from main.mart_data_health as health, (values ('acme'), ('acme, inc')) as ids (id)`,
    )
    const idsOf = async (...organisations: string[]): Promise<string[]> => {
      const data = await readReport({ ...REQUEST, organisations, warehouse: copy })
      return data.organisations.map(({ org_id }) => org_id)
    }
    expect(await idsOf('acme, inc')).toEqual(['acme, inc'])
    expect(await idsOf('acme', 'org/1')).toEqual(['acme', 'org/1'])
    await expect(idsOf('acme,')).rejects.toThrow("the warehouse has no organisation 'acme,'")
  })

  it('names people only on request', () => {
    expect(people.people.length).toBeGreaterThan(0)
    expect(groups.people).toEqual([])
    expect(groups.policy.flatMap(({ changed_by }) => changed_by ?? [])).toEqual([])
  })
})
