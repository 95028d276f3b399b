import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseDay } from '../../../src/lib/days.ts'
import type { BuildResult } from '../../../src/model/build/build.ts'
import { Database, type Cell } from '../../../src/lib/duckdb.ts'
import { Lake } from '../../support/lake.ts'
import { project } from '../alone.ts'
import { folderOfFile } from '../../support/folders.ts'
import { buildLake } from '../lake-build.ts'
import { landPlatform } from './served.ts'

const LAST_DAY = parseDay('2026-02-08', 'the last day')

let lake: Lake
let built: BuildResult
beforeAll(async () => {
  lake = await Lake.open(await folderOfFile())
  await landPlatform(lake)
  built = await buildLake(lake, LAST_DAY)
})

/** Rows of a mart, columns as named, in their order. */
async function rowsOf(mart: string, ...columns: string[]): Promise<(readonly Cell[])[]> {
  const database = await Database.open(join(lake.data, 'warehouse.duckdb'), { readOnly: true })
  try {
    const list = columns.join(', ')
    return [...(await database.table(`select ${list} from ${mart} order by all nulls first`)).rows]
  } finally {
    database.close()
  }
}

it('entity marts pass every check', () => {
  expect(built.checks.filter(({ status }) => status !== 'pass')).toEqual([])
})

describe('changes of the controls', () => {
  const key = 'customModels[m].apiKey'
  const [first, other] = ['"[redacted:00000001]"', '"[redacted:00000002]"']

  it('are differences from the previous known revision, whatever the order of lists', async () => {
    const columns = ['revision', 'previous_revision', 'settings_path', 'change']
    const values = ['old_value', 'new_value', 'is_redacted']
    expect(await rowsOf('fct_control_change', ...columns, ...values)).toEqual([
      ['1', null, 'commandAllowlist', 'added', null, '["git","ls"]', false],
      ['1', null, key, 'added', null, first, true],
      ['1', null, 'customModels[m].model', 'added', null, '"m"', false],
      ['1', null, 'maxAutonomyLevel', 'added', null, '"low"', false],
      ['3', '2', 'maxAutonomyLevel', 'removed', '"low"', null, false],
      ['5', '3', key, 'changed', first, other, true],
      ['5', '3', 'maxAutonomyLevel', 'added', null, '"high"', false],
      ['7', '5', 'sandbox.enabled', 'added', null, 'true', false],
    ])
  })

  it('have their actor and time', async () => {
    const columns = ['actor_id', 'actor_email', 'actor_name', 'changed_at']
    expect(await rowsOf('fct_control_change where revision = 3', ...columns)).toEqual([
      ['u2', 'bob@x.example', 'Bob', '2026-01-23 10:00:00+00'],
    ])
  })

  it('give the current settings', async () => {
    const columns = ['settings_path', 'current_value', 'revision', 'actor_name', 'is_redacted']
    expect(await rowsOf('dim_control_current', ...columns)).toEqual([
      ['commandAllowlist', '["git","ls"]', '1', 'Ann', false],
      [key, other, '5', 'Ann', true],
      ['customModels[m].model', '"m"', '1', 'Ann', false],
      ['maxAutonomyLevel', '"high"', '5', 'Ann', false],
      ['sandbox.enabled', 'true', '7', 'Bob', false],
    ])
  })
})

it('limits have a period for each change, and none for a missed night', async () => {
  const columns = ['user_email', 'valid_from', 'valid_to', 'last_seen_date', 'credit_limit']
  expect(await rowsOf('fct_usage_limit', ...columns, 'effective_limit', 'is_current')).toEqual([
    [null, '2026-02-01', '2026-02-04', '2026-02-03', '2000000', '2000000', false],
    [null, '2026-02-05', '2026-02-07', '2026-02-06', null, null, false],
    [null, '2026-02-08', null, '2026-02-08', null, null, true],
    ['a@x.example', '2026-02-01', '2026-02-03', '2026-02-02', '5000000', '5000000', false],
    ['a@x.example', '2026-02-03', '2026-02-04', '2026-02-03', null, '2000000', false],
    ['a@x.example', '2026-02-05', '2026-02-07', '2026-02-06', null, null, false],
    ['a@x.example', '2026-02-08', null, '2026-02-08', null, null, true],
    ['b@x.example', '2026-02-05', '2026-02-07', '2026-02-06', '9000000', '9000000', false],
    ['b@x.example', '2026-02-08', null, '2026-02-08', '9000000', '9000000', true],
  ])
})

describe('readiness', () => {
  it('has each report once, by its last version', async () => {
    const columns = ['report_id', 'report_date', 'app_count', 'is_latest', 'landed_date']
    expect(await rowsOf('dim_readiness_report', ...columns)).toEqual([
      ['r1', '2026-02-01', '1', false, '2026-02-05'],
      ['r2', '2026-02-01', '1', false, '2026-02-05'],
      ['r3', '2026-02-04', '1', true, '2026-02-05'],
    ])
  })

  it('distinguishes skipped from failed criteria', async () => {
    const columns = ['report_id', 'criterion_id', 'numerator', 'denominator']
    expect(await rowsOf('fct_readiness_criterion', ...columns, 'is_skipped', 'is_passed')).toEqual([
      ['r1', 'lint', '2', '2', false, true],
      ['r1', 'tests', null, '1', true, null],
      ['r2', 'lint', '0', '2', false, false],
      ['r3', 'lint', null, '2', true, null],
    ])
  })

  it('has ratios of sums over time, without skipped criteria', async () => {
    const columns = ['criterion_id', 'report_date', 'reports', 'skipped_reports', 'passed_reports']
    const rest = ['passing', 'evaluated', 'pass_rate']
    expect(await rowsOf('mart_readiness_trend', ...columns, ...rest)).toEqual([
      ['lint', '2026-02-01', '2', '0', '1', '2', '4', 0.5],
      ['lint', '2026-02-04', '1', '1', '0', null, null, null],
      ['tests', '2026-02-01', '1', '1', '0', null, null, null],
    ])
  })
})

describe('computers', () => {
  it('are identified by their ids, even when one has the name of a deleted one', async () => {
    const columns = ['computer_id', 'computer_name', 'created_at', 'first_seen_date']
    expect(await rowsOf('dim_computer', ...columns, 'last_seen_date')).toEqual([
      ['c1', 'box', '2026-01-01 00:00:00+00', '2026-02-02', '2026-02-02'],
      ['c2', 'box', '2026-01-01 00:00:00+00', '2026-02-03', '2026-02-05'],
    ])
  })

  it('are deleted if a later night lists only others, or none', async () => {
    expect(await rowsOf('dim_computer', 'computer_id', 'is_deleted')).toEqual([
      ['c1', true],
      ['c2', true],
    ])
  })

  it('have each start of a step, and a step that has not started', async () => {
    const columns = ['computer_id', 'step_id', 'started_at', 'status', 'is_current']
    expect(await rowsOf('fct_provisioning_step', ...columns)).toEqual([
      ['c1', 'install-deps', '2026-01-01 00:00:01+00', 'done', true],
      ['c2', 'Git', null, null, true],
      ['c2', 'install-deps', '2026-01-01 00:00:10+00', 'failed', false],
      ['c2', 'install-deps', '2026-01-01 00:00:20+00', 'done', true],
    ])
  })

  it('have each sample once, by its last version', async () => {
    const columns = ['computer_id', 'sampled_at', 'sample_date', 'cpu_used_pct']
    expect(await rowsOf('fct_computer_metric', ...columns)).toEqual([
      ['c2', '2026-02-03 04:00:00+00', '2026-02-03', 10],
      ['c2', '2026-02-03 04:01:00+00', '2026-02-03', 21],
      ['c2', '2026-02-03 04:02:00+00', '2026-02-03', 30],
    ])
  })
})

describe('sessions', () => {
  it('have the values of their last fetch', async () => {
    const columns = ['session_id', 'parent_session_id', 'message_count', 'tag_names']
    const rest = ['assistant_active_ms', 'input_tokens', 'inclusive_input_tokens', 'output_tokens']
    expect(await rowsOf('fct_session', ...columns, ...rest)).toEqual([
      ['s1', null, '5', 'a,new', '7000', '20', '25', null],
      ['s2', 's1', '2', null, null, '5', null, null],
    ])
  })

  it('have messages, each once', async () => {
    const columns = ['session_id', 'message_id', 'role', 'text_length']
    expect(await rowsOf('fct_message', ...columns)).toEqual([['s1', 'm1', 'user', '4']])
  })

  it('have hook events, each once', async () => {
    const columns = ['event_id', 'hook_event', 'session_id', 'event_date', 'reason', 'is_failure']
    expect(await rowsOf('fct_hook_event', ...columns)).toEqual([
      ['e1', 'SessionEnd', 's1', '2026-02-02', 'error', true],
      ['e2', 'SessionEnd', 's1', '2026-02-03', 'clear', false],
      ['e3', 'SessionEnd', 's3', '2026-02-03', 'other', true],
      ['e4', 'SessionEnd', 's4', '2026-02-03', null, null],
      ['e5', 'Stop', 's2', '2026-02-03', null, null],
      ['e6', null, null, '2026-02-03', null, null],
    ])
  })

  it('have recorded hook events even when the platform counted none', async () => {
    const columns = ['activity_date', 'hook_event', 'platform_invocations', 'recorded_events']
    expect(await rowsOf('mart_hook_recording', ...columns)).toEqual([
      ['2026-02-02', 'SessionEnd', null, '1'],
      ['2026-02-03', '(unnamed)', null, '1'],
      ['2026-02-03', 'SessionEnd', null, '3'],
      ['2026-02-03', 'Stop', null, '1'],
    ])
  })

  it('are compared with the retention of the settings', async () => {
    const columns = ['since_revision', 'retention_days', 'valid_from', 'fetched_sessions']
    const rest = ['oldest_session_days', 'sessions_past_retention']
    expect(await rowsOf('mart_session_retention', ...columns, ...rest)).toEqual([
      ['1', null, '2026-01-21 10:00:00+00', '2', '2', null],
    ])
  })

  it('have one outcome, by their last end', async () => {
    const columns = ['outcome_date', 'end_reason', 'is_failure', 'sessions', 'fetched_sessions']
    const rest = ['messages', 'assistant_active_ms', 'service_credits']
    expect(await rowsOf('mart_session_outcomes', ...columns, ...rest)).toEqual([
      ['2026-02-01', '(not recorded)', null, '1', '1', '2', null, '30.000000'],
      ['2026-02-03', '(none given)', null, '1', '0', null, null, null],
      ['2026-02-03', 'clear', false, '1', '1', '5', '7000', '100.000000'],
      ['2026-02-03', 'other', true, '1', '0', null, null, null],
    ])
  })
})

it('entity marts without any landed data exist, are empty, and pass every check', async () => {
  const empty = await Lake.open(await folderOfFile())
  const { checks } = await buildLake(empty, LAST_DAY)
  expect(checks.filter(({ status }) => status !== 'pass')).toEqual([])
  const [here, there] = [await columnsIn(lake), await columnsIn(empty)]
  expect(there.columns).toEqual(here.columns)
  expect(there.counts.filter(([, count]) => count !== '0')).toEqual([])
})

const MARTS = [
  ...['fct_control_change', 'dim_control_current', 'fct_usage_limit', 'mart_limit_usage'],
  ...['dim_readiness_report', 'fct_readiness_criterion', 'mart_readiness_trend', 'dim_computer'],
  ...['fct_computer_metric', 'fct_provisioning_step', 'fct_session', 'fct_message'],
  ...['fct_hook_event', 'mart_session_outcomes', 'mart_policy_usage', 'mart_hook_recording'],
  ...['mart_session_retention', 'mart_allowed_emails'],
]

async function columnsIn({ data }: Lake) {
  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    const described = await database.rows(`select table_name, column_name, data_type
      from duckdb_columns() where schema_name = 'main' order by all`)
    const columns = described.filter(({ table_name: name }) => MARTS.some((mart) => mart === name))
    const counts = await database.table(
      MARTS.map((mart) => `select '${mart}', count(*) from ${mart}`).join(' union all '),
    )
    return { columns, counts: counts.rows }
  } finally {
    database.close()
  }
}

it('no mart has a column that only the pipeline reads', () => {
  const internal = project.models
    .filter(({ config }) => config.schema === 'main')
    .flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`))
    .filter((column) => /digest|fingerprint|ordinal|made_from/.test(column))
  expect(internal).toEqual([])
})
