import { describe, expect, it } from 'vitest'
import { tableListText, tableText } from '../../src/cli/query.ts'
import { describeTable, listTables } from '../../src/serve/tables.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { temporaryFolder } from '../support/helpers.ts'

async function warehouse(more = ''): Promise<string> {
  const path = `${await temporaryFolder()}/warehouse.duckdb`
  const database = await Database.open(path)
  await database.run(`
    create schema meta;
    create table meta.columns (
      table_schema varchar, table_name varchar, column_name varchar, additivity varchar,
      key_position bigint);
    create table fct_model_day (
      activity_date date, model_id varchar, billable_tokens decimal(24, 6), users bigint);
    comment on table fct_model_day is 'One row per org, day and model. The rest is another sentence.';
    comment on column fct_model_day.billable_tokens is 'Standard Credits. NULL where not sent.';
    insert into meta.columns values
      ('main', 'fct_model_day', 'billable_tokens', 'additive', null),
      ('main', 'fct_model_day', 'users', 'distinct_per_day', null);
    ${more}`)
  database.close()
  return path
}

describe('the tables of a warehouse', () => {
  it('are listed with their grain', async () => {
    const tables = await listTables(await warehouse())
    expect(tables.map(({ table_schema, table_name }) => [table_schema, table_name])).toEqual([
      ['main', 'fct_model_day'],
      ['meta', 'columns'],
    ])
    expect(tableListText(tables, undefined).split('\n').slice(0, 2)).toEqual([
      'fct_model_day  One row per org, day and model.',
      'meta.columns',
    ])
  })

  it.each(['fct_model_day', 'main.fct_model_day', 'FCT_Model_Day'])(
    'have columns with type, unit, additivity and meaning (%s)',
    async (name) => {
      const { columns } = await describeTable(await warehouse(), name)
      expect(columns.map((each) => [each.column_name, each.unit, each.additivity])).toEqual([
        ['activity_date', 'day, UTC', null],
        ['model_id', null, null],
        ['billable_tokens', 'credits', 'additive'],
        ['users', 'users', 'distinct_per_day'],
      ])
      expect(columns[2]).toMatchObject({
        data_type: 'DECIMAL(24,6)',
        description: 'Standard Credits. NULL where not sent.',
      })
    },
  )

  it.each([
    ['fct_usage_limit', 'effective_limit', 'bigint', 'none', 'credits'],
    ['mart_ramp_week', 'billable_tokens_of_cohort_avg', 'double', 'ratio', 'credits'],
    ['mart_ramp_week', 'active_days_of_cohort_avg', 'double', 'ratio', 'days'],
    ['mart_ramp_week', 'tool_calls_of_cohort_avg', 'double', 'ratio', 'count'],
    ['mart_autonomy_level_week', 'tool_calls', 'double', 'additive', 'count'],
    ['mart_anomalies', 'value', 'decimal(38, 6)', 'none', 'credits'],
    ['mart_anomalies', 'expected', 'double', 'none', 'credits'],
    ['mart_anomalies', 'usual_low', 'decimal(38, 6)', 'none', 'credits'],
    ['mart_anomalies', 'usual_high', 'decimal(38, 6)', 'none', 'credits'],
    ['fct_reconciliation', 'expected', 'double', 'none', null],
    ['mart_limit_usage', 'share_of_limit', 'double', 'ratio', 'ratio'],
    ['mart_efficiency_week', 'git_commits_per_million_credits', 'double', 'ratio', 'ratio'],
  ])('have the unit of %s.%s', async (table, column, type, additivity, unit) => {
    const path = await warehouse(`
      create table ${table} (${column} ${type});
      insert into meta.columns values ('main', '${table}', '${column}', '${additivity}', null)`)
    const { columns } = await describeTable(path, table)
    expect(columns).toMatchObject([{ column_name: column, unit }])
  })

  it.each([
    ['fct_modle_day', "Did you mean 'fct_model_day'?"],
    ['meta.colums', "Did you mean 'meta.columns'?"],
    ['something else', /`agent-warehouse tables` lists/],
  ])('are distinguished from unknown names: %s', async (name, hint) => {
    await expect(describeTable(await warehouse(), name)).rejects.toMatchObject({
      exitCode: 2,
      message: `there is no table '${name}'`,
      hint: typeof hint === 'string' ? hint : (expect.stringMatching(hint) as string),
    })
  })

  it('show a paragraph break of a description as a space, and escape control characters', () => {
    const description = 'One row per month.\n\nOf \u001b[31mevery\tmodel.'
    const column = { column_name: 'a', data_type: 'DATE', unit: null, additivity: null }
    const table = { table_schema: 'main', table_name: 'mart', description }
    const one = tableText({ ...table, columns: [{ ...column, description }] }, undefined)
    const shown = String.raw`One row per month. Of \u001b[31mevery model.`
    expect(one).toBe(`mart\n${shown}\n\na  DATE\n    ${shown}\n`)
    expect(tableListText([table], undefined).split('\n')[0]).toBe('mart  One row per month.')
  })

  it.each([80, 40, 20])('fit in %i columns', async (width) => {
    const path = await warehouse()
    const list = tableListText(await listTables(path), width)
    const one = tableText(await describeTable(path, 'fct_model_day'), width)
    const longest = Math.max(...`${list}${one}`.split('\n').map((line) => line.length))
    expect(longest).toBeLessThanOrEqual(width)
    expect(list.replaceAll(/\s+/g, ' ')).toContain('fct_model_day One row per org, day and model.')
    expect(one.replaceAll(/\s+/g, ' ')).toContain('Standard Credits. NULL where not sent.')
  })
})
