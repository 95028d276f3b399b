import { describe, expect, it } from 'vitest'
import { DAILY, serve, type UserDay } from './daily.ts'
import { Bench, type Files } from './fixture.ts'

async function built(rows: readonly UserDay[], files: Files): Promise<Bench> {
  const bench = await Bench.open()
  await serve(bench, rows)
  await bench.build(files)
  return bench
}

function usersIn(bench: Bench): Promise<unknown[]> {
  return bench.rows('select user_id from fct_user_day order by all')
}

describe('a relationship check of an incremental model', () => {
  const yml = DAILY['models/fct_user_day.yml'] ?? ''
  const files: Files = {
    ...DAILY,
    'models/fct_user_day.yml': yml.replace(
      '- {name: user_id, description: The user.}',
      `- name: user_id
        description: The user.
        data_tests:
          - relationships: {arguments: {to: ref('dim_user'), field: user_id}}`,
    ),
    // u3 is never in it, and u1 is dropped once a user has three sessions
    'models/dim_user.sql': `{{ config(materialized='table') }}
select user_id
from {{ ref('fct_user_day') }}
where user_id not in ('u3', '{{ var('removed', '') }}') and (
    user_id != 'u1' or (select max(sessions) from {{ ref('fct_user_day') }}) < 3
)
group by 1
`,
    'models/dim_user.yml': `models:
  - name: dim_user
    description: One row per user.
    columns:
      - {name: user_id, description: The user.}
`,
  }
  const days: readonly UserDay[] = [
    ['a', '2026-01-14', 'u1', 1, 'v1'],
    ['a', '2026-01-15', 'u2', 2, 'v1'],
  ]

  it('finds the value of a new row', async () => {
    const bench = await built(days, files)
    await serve(bench, [...days, ['a', '2026-01-16', 'u3', 1, 'v1']])
    await expect(bench.build(files)).rejects.toThrow('relationships_fct_user_day_user_id')
    expect(await usersIn(bench)).toHaveLength(2)
  })

  it('finds unchanged rows when the row that they refer to is removed', async () => {
    const bench = await built(days, files)
    await serve(bench, [...days, ['a', '2026-01-16', 'u2', 3, 'v1']])
    await expect(bench.build(files)).rejects.toThrow('relationships_fct_user_day_user_id')
  })

  it('passes when no referenced row is removed', async () => {
    const bench = await built(days, files)
    await serve(bench, [...days, ['a', '2026-01-16', 'u4', 1, 'v1']])
    const { checks } = await bench.build(files)
    expect(checks.map(({ check, status }) => [check, status])).toContainEqual([
      'relationships_fct_user_day_user_id',
      'pass',
    ])
    expect(await usersIn(bench)).toHaveLength(3)
  })

  it.each([
    ['passes without reading its rows while no referenced row is removed', 'u9', 'pass'],
    ['fails for the unchanged rows of a removed reference', 'u2', 'fail'],
  ])('%s', async (_, removed, status) => {
    const sourceContent = () => 'the same'
    const bench = await Bench.open()
    await serve(bench, days)
    await bench.build(files, { sourceContent })
    const build = bench.build(files, { sourceContent, vars: { removed } })
    if (status === 'fail') await expect(build).rejects.toThrow('relationships_fct_user_day_user_id')
    else expect((await build).checks.map((each) => each.status)).not.toContain('fail')
  })

  it('passes when only its model is built again, without a new row', async () => {
    const sourceContent = () => 'the same'
    const bench = await Bench.open()
    await serve(bench, days)
    await bench.build(files, { sourceContent })
    const { checks } = await bench.build(files, { sourceContent, select: 'fct_user_day' })
    expect(checks.map(({ status }) => status)).toEqual(['pass', 'pass', 'pass'])
  })

  it('in an organisation fails when the referenced row is removed in that organisation', async () => {
    const inOrg: Files = {
      ...files,
      'models/fct_user_day.yml': (files['models/fct_user_day.yml'] ?? '').replace(
        'relationships:',
        'relationships_in_org:',
      ),
      'models/dim_user.sql': `{{ config(materialized='table') }}
select org_id, user_id
from {{ ref('fct_user_day') }}
where org_id || user_id != '{{ var('removed', '') }}'
group by 1, 2
`,
      'models/dim_user.yml': `models:
  - name: dim_user
    description: One row per organisation and user.
    columns:
      - {name: org_id, description: The organisation.}
      - {name: user_id, description: The user.}
`,
    }
    const sourceContent = () => 'the same'
    const bench = await Bench.open()
    await serve(bench, [...days, ['b', '2026-01-15', 'u1', 1, 'v1']])
    await bench.build(inOrg, { sourceContent })
    const { checks } = await bench.build(inOrg, { sourceContent, vars: { removed: 'cu1' } })
    expect(checks.map(({ status }) => status)).not.toContain('fail')
    await expect(bench.build(inOrg, { sourceContent, vars: { removed: 'bu1' } })).rejects.toThrow(
      'relationships_in_org_fct_user_day_user_id',
    )
  })

  it.each([
    [
      'is a view',
      "{{ config(materialized='view') }}\nselect user_id from {{ ref('fct_user_day') }}",
    ],
    ['was changed', "{{ config(materialized='table') }}\nselect 'u1' as user_id"],
  ])('reads every row when the referenced model %s', async (_, sql) => {
    const bench = await built(days, files)
    const changed = { ...files, 'models/dim_user.sql': sql }
    await serve(bench, days)
    const build = bench.build(changed)
    await (sql.includes("'u1'")
      ? expect(build).rejects.toThrow('relationships_fct_user_day_user_id')
      : expect(build).resolves.toBeDefined())
  })
})
