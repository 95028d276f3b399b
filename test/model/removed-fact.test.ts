import { expect, it } from 'vitest'
import { Bench, type Files } from './fixture.ts'

const INCREMENTAL =
  "materialized='incremental', incremental_strategy='delete+insert', on_schema_change='fail'"

/** `int_fact_days`, and facts whose pre-hooks write to it. */
function factsOf(...names: readonly string[]): Files {
  const described = ['int_fact_days', ...names].map(
    (name) => `  - name: ${name}
    description: One row.
    columns:
      - {name: fact_name, description: The fact.}
`,
  )
  const facts = names.map((name): [string, string] => [
    `models/${name}.sql`,
    `{{ config(
  ${INCREMENTAL}, unique_key=['fact_name'],
  pre_hook=[
    "delete from {{ ref('int_fact_days') }} where fact_name = '${name}'",
    "insert into {{ ref('int_fact_days') }} select '${name}'"
  ]
) }}
select '${name}' as fact_name
`,
  ])
  return {
    'dbt_project.yml': 'name: facts\n',
    'models/int_fact_days.sql': `{{ config(${INCREMENTAL}, unique_key=['fact_name']) }}
select cast(null as varchar) as fact_name where 1 = 0
`,
    'models/models.yml': `models:\n${described.join('')}`,
    ...Object.fromEntries(facts),
  }
}

it('the recorded days of a fact that is no longer in the project are removed', async () => {
  const bench = await Bench.open()
  await bench.build(factsOf('fct_kept', 'fct_removed'))
  const recorded = 'select fact_name from int_fact_days order by 1'
  expect(await bench.rows(recorded)).toHaveLength(2)
  const { models } = await bench.build(factsOf('fct_kept'))
  expect(models.find(({ name }) => name === 'int_fact_days')).toMatchObject({ intervals: 0 })
  expect(await bench.rows(recorded)).toEqual([{ fact_name: 'fct_kept' }])
})

it('the recorded days of a fact that no longer records them are removed', async () => {
  const bench = await Bench.open()
  const files = factsOf('fct_kept', 'fct_table')
  await bench.build(files)
  const sql = "{{ config(materialized='table') }}select 'fct_table' as fact_name\n"
  await bench.build({ ...files, 'models/fct_table.sql': sql })
  const recorded = 'select fact_name from int_fact_days order by 1'
  expect(await bench.rows(recorded)).toEqual([{ fact_name: 'fct_kept' }])
})
