import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { listModels } from '../../../src/model/project/compile.ts'
import { loadSeed } from '../../../src/model/project/seeds.ts'
import type { Column, ModelNode } from '../../../src/model/project/types.ts'
import { Database } from '../../../src/lib/duckdb.ts'
import { packageRoot } from '../../../src/lib/package.ts'
import { COLUMNS } from '../../normalize/columns.ts'
import { project } from '../alone.ts'
import { Lineage, type Relation, type Relations } from './lineage.ts'
import { ADDITIVITIES, measured, PLAIN, type Additivity, type Value } from './measures.ts'
import { parse } from './syntax.ts'

const TIMES = ['activity_date', 'week_start_date', 'month_start_date']
const NUMBERS = /^(BIGINT|INTEGER|HUGEINT|DOUBLE|DECIMAL)/

const nodes = listModels(project).filter(({ snapshot }) => snapshot === null)
const database = await Database.open(':memory:')
afterAll(() => {
  database.close()
})

/** The additivity of every relation by its yml; that of sources is unknown. */
const declared: Relations = new Map<string, Relation>([
  ...project.sources.flatMap(({ name, tables }) =>
    tables.map((table) => [`${name}.${table.name}`, { columns: new Map(), isOpen: true }] as const),
  ),
  ...nodes.map((node) => [node.relation, relationOf(node)] as const),
])

function relationOf({ columns }: ModelNode): Relation {
  return { columns: new Map(columns.map((each) => [each.name, valueOf(each)])), isOpen: false }
}

function valueOf({ name, additivity }: Column): Value {
  const kind = kindOf(additivity)
  if (kind === undefined) return { ...PLAIN, isTime: TIMES.includes(name) }
  return measured(kind, name)
}

function kindOf(additivity: string | null): Additivity | undefined {
  return ADDITIVITIES.find((kind) => kind === additivity)
}

interface Findings {
  readonly wrongs: readonly string[]
  readonly columns: Relation['columns']
}

async function inspect(sql: string): Promise<Findings> {
  const lineage = new Lineage(declared)
  const { columns } = lineage.query(await parse(database, sql))
  return { wrongs: [...new Set(lineage.wrongs)], columns }
}

/** Sums that a model makes intentionally, by measure: `config.meta.sums` says why. */
function intended({ meta }: ModelNode): string[] {
  const { sums } = meta
  return typeof sums === 'object' && sums !== null ? Object.keys(sums) : []
}

/**
 * Columns that claim to add up but are made of measures that do not, and measures without a
 * claim. A mode counts as the column that it is a mode of.
 */
function falseClaims({ columns: claims }: ModelNode, { columns }: Findings): string[] {
  return claims.flatMap(({ name, additivity }) => {
    const kinds = [...(columns.get(name)?.measures.keys() ?? [])].filter((kind) => kind !== 'mode')
    if (kinds.length > 0 && additivity === null) return [`${name} is a measure`]
    const others = kinds.filter((kind) => kind !== 'additive')
    return additivity === 'additive' && others.length > 0 ? [`${name} is ${others.join()}`] : []
  })
}

describe('measures that do not add up', () => {
  it.each(nodes.filter(({ seed }) => seed === null).map((node) => [node.name, node] as const))(
    'are not summed or averaged in %s',
    async (_, node) => {
      const findings = await inspect(node.sql)
      const allowed = intended(node)
      const wrongs = findings.wrongs.filter(
        (wrong) => !allowed.some((measure) => wrong.startsWith(`sum of ${measure},`)),
      )
      expect([...wrongs, ...falseClaims(node, findings)]).toEqual([])
    },
  )

  it('are not summed or averaged in a ready-made question', async () => {
    const folder = join(packageRoot, 'sql', 'analyses')
    for (const file of await readdir(folder)) {
      const sql = await readFile(join(folder, file), 'utf8')
      expect((await inspect(sql)).wrongs, file).toEqual([])
    }
  })
})

describe('a sum or average', () => {
  it.each([
    [
      'of daily users over days',
      'select sum(daily_active_users) as n from main.fct_org_day',
      ['sum of daily_active_users, which is distinct_per_day'],
    ],
    [
      'of the users of clients, by day',
      'select org_id, activity_date, sum(daily_active_users) as n from main.fct_client_day group by 1, 2',
      ['sum of daily_active_users, which is distinct_per_day'],
    ],
    [
      'of monthly users',
      'select avg(monthly_active_users) as n from main.fct_org_day',
      ['avg of monthly_active_users, which is trailing'],
    ],
    [
      'of a percentile, through common table expressions, a join, a cast and a case',
      `with days as (select * from main.fct_org_day),
      named as (
        select days.org_id, cast(days.autonomy_ratio_p90 as double) as p90
        from days inner join main.dim_date on days.activity_date = dim_date.activity_date
      ),
      final as (select org_id, avg(case when p90 > 0 then p90 end) as p90 from named group by 1)
      select * from final`,
      ['avg of autonomy_ratio_p90, which is percentile'],
    ],
    [
      'of one side of a union',
      `select sum(n) as n from (
        select sessions as n from main.fct_org_day
        union all select weekly_active_users from main.fct_org_day
      ) as both_sides`,
      ['sum of weekly_active_users, which is trailing'],
    ],
    [
      'of a ratio that the model computes',
      `with ratios as (select tool_calls / user_messages as ratio from main.fct_user_day)
      select avg(ratio) as ratio from ratios`,
      ['avg of a quotient, which is ratio'],
    ],
    [
      'of shares of different days',
      'select autonomy_level, sum(share) as share from main.fct_autonomy_level_day group by 1',
      ['sum of share, which is share'],
    ],
    [
      'of the seats of days',
      'select team, sum(seats) as seats from main.fct_licence_day group by team',
      ['sum of seats, which is snapshot'],
    ],
    [
      'of maxima',
      `with top as (select org_id, max(sessions) as most from main.fct_org_day group by 1)
      select sum(most) as most from top`,
      ['sum of sessions, which is none'],
    ],
    [
      'over a window of days',
      `select sum(web_users) over (partition by org_id order by activity_date) as n
      from main.fct_org_day`,
      ['sum of web_users, which is distinct_per_day'],
    ],
  ])('%s is reported', async (_, sql, wrongs) => {
    expect((await inspect(sql)).wrongs).toEqual(wrongs)
  })

  it.each([
    ['of additive measures', 'select sum(sessions) as n, avg(sessions) as m from main.fct_org_day'],
    ['that only counts rows', 'select count(daily_active_users) as n from main.fct_org_day'],
    [
      'of shares of one day',
      'select activity_date, sum(share) as share from main.fct_autonomy_level_day group by 1',
    ],
    [
      'of the seats of teams, by day',
      'select activity_date, sum(seats) as seats from main.fct_licence_day group by activity_date',
    ],
    [
      'with a measure only in its condition',
      'select sum(case when daily_active_users > 3 then sessions end) as n from main.fct_org_day',
    ],
    [
      'in a ratio of sums',
      'select sum(tool_calls) / sum(user_messages) as r from main.fct_user_day',
    ],
  ])('%s is not reported', async (_, sql) => {
    expect((await inspect(sql)).wrongs).toEqual([])
  })

  it('of a trailing count in a column that claims to be additive is reported', async () => {
    const [node] = nodes.filter(({ name }) => name === 'fct_org_day')
    if (node === undefined) throw new Error('no such model')
    const sql = node.sql.replace('activity.sessions', 'activity.weekly_active_users as sessions')
    expect(falseClaims(node, await inspect(sql))).toEqual(['sessions is trailing'])
  })
})

it('every number except keys has its additivity, and every column a description', async () => {
  await database.run(emptySources())
  for (const node of nodes) {
    if (node.seed !== null) await loadSeed(database, node.seed)
    await database.run(`create schema if not exists ${node.schema};
      create view ${node.relation} as ${node.sql}`)
  }
  for (const node of nodes) {
    const types = await database.rows(`describe ${node.relation}`)
    expect(types.map((row) => row['column_name']).toSorted(), node.name).toEqual(
      node.columns.map(({ name }) => name).toSorted(),
    )
    const numbers = types.flatMap((row) => {
      const { column_name: name, column_type: type } = row
      return typeof type === 'string' && NUMBERS.test(type) ? [name] : []
    })
    const silent = node.columns.filter(
      ({ name, additivity }) => numbers.includes(name) && additivity === null,
    )
    expect(
      silent.map(({ name }) => name),
      node.name,
    ).toEqual([])
    for (const { name, description, additivity } of node.columns) {
      expect(description, `${node.name}.${name}`).toMatch(/\w.*\.$/s)
      expect([null, ...ADDITIVITIES], `${node.name}.${name}`).toContain(additivity)
    }
  }
})

function emptySources(): string {
  const tables = Object.entries(COLUMNS).map(
    ([entity, columns]) => `create table platform.${entity} (
      org_id varchar, activity_date date, ${columns.join(', ')}, fetched_at timestamptz)`,
  )
  return [
    'create schema platform',
    ...tables,
    `create table platform.intervals (org_id varchar, resource varchar, activity_date date,
      is_analytics boolean, status varchar, is_settled boolean, is_suspect boolean, fetched_at timestamptz)`,
    `create table platform.restatements (org_id varchar, resource varchar, activity_date date,
      entity_key varchar, metric varchar, old_value varchar, new_value varchar,
      old_fetched_at timestamptz, new_fetched_at timestamptz)`,
    `create table platform.schema_drift (org_id varchar, resource varchar, activity_date date,
      path varchar, kind varchar)`,
  ].join(';\n')
}
