import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Database } from '../../../src/lib/duckdb.ts'
import { packageRoot } from '../../../src/lib/package.ts'
import { loadProject } from '../../../src/model/project/project.ts'
import { project } from '../alone.ts'
import { TINY, writeFiles } from '../fixture.ts'
import { measureOf, measures, measureSql, page, semanticModels } from './pages.ts'

describe('the metrics', () => {
  it('are in docs/metrics.md: `npm run docs:metrics` writes it', async () => {
    await expect(page()).toMatchFileSnapshot(join(packageRoot, 'docs', 'metrics.md'))
  })

  it('are in the semantic models of MetricFlow', async () => {
    const file = join(packageRoot, 'dbt-like-models', 'semantic', 'semantic_models.yml')
    await expect(semanticModels()).toMatchFileSnapshot(file)
  })

  it('count the active users of organisations, also where these name users alike', async () => {
    const sql = measureSql(measureOf('active_users'))
    await using database = await Database.open(':memory:')
    await database.run(`create table fct_user_day as from (values
      ('a', date '2026-03-01', 'u1', true), ('a', date '2026-03-02', 'u1', true),
      ('b', date '2026-03-01', 'u1', true), ('b', date '2026-03-01', '(unattributed)', true)
    ) as t (org_id, activity_date, user_id, is_active)`)
    expect(await database.rows(sql)).toEqual([{ active_users: '2' }])
  })

  it('of a last day have that of each organisation, also of one whose last night failed', async () => {
    const sql = measureSql(measureOf('weekly_active_users'))
    await using database = await Database.open(':memory:')
    await database.run(`create table mart_active_users as from (values
      ('a', date '2026-03-01', 1), ('a', date '2026-03-02', 2), ('b', date '2026-03-01', 40)
    ) as t (org_id, activity_date, weekly_active_users)`)
    expect(await database.rows(sql)).toEqual([{ weekly_active_users: '42' }])
  })

  it('sum no column that is an average, percentile or share', () => {
    const wrong = measures.flatMap(({ name, model, expression }) => {
      const columns = project.models.find((each) => each.name === model)?.columns ?? []
      const summed = columns.filter(({ name: column }) =>
        new RegExp(`^sum\\(.*\\b${column}\\b`, 's').test(expression),
      )
      return summed.flatMap(({ name: column, additivity }) =>
        ['average', 'percentile', 'share'].includes(additivity ?? '') ? [`${name}: ${column}`] : [],
      )
    })
    expect(wrong).toEqual([])
    expect(project.metrics.length).toBeGreaterThan(15)
  })
})

describe('metrics.yml is refused with its line', () => {
  const SESSIONS = `metrics:
  - name: sessions
    type: measure
    label: Sessions
    unit: sessions
    description: Sessions of users.
    mistake: None is known.
    model: fct_user
    grain: [user_id]
    time: user_id
    expression: sum(sessions)
    adds_up_over: [user_id]
`
  const RATIO = `  - name: share
    type: ratio
    label: Share
    unit: share
    description: A share of sessions.
    mistake: None is known.
    numerator: sessions
    denominator: sessions
`
  const read = async (text: string) =>
    (await loadProject(await writeFiles({ ...TINY, 'metrics.yml': text }))).metrics

  it('a valid or absent metrics.yml is accepted', async () => {
    expect(await read(SESSIONS + RATIO)).toHaveLength(2)
    expect((await loadProject(await writeFiles(TINY))).metrics).toEqual([])
  })

  it.each([
    ['model: fct_user', 'model: fct_users', "metrics.yml:8: unknown model 'fct_users'"],
    ['time: user_id', 'time: day', "metrics.yml:10: unknown column 'day'"],
    ['grain: [user_id]', 'grain: [sessions]', 'metrics.yml:9: sessions is not a key of fct_user'],
    ['over: [user_id]', 'over: [team]', "metrics.yml:12: unknown column of the grain 'team'"],
    ['sum(sessions)', 'avg(sessions)', 'metrics.yml:11: metrics.0.expression: write sum(…)'],
    ['label: Sessions', 'name: x', 'metrics.yml:4: duplicated mapping key'],
    ['unit: sessions', 'units: sessions', 'metrics.yml:2: metrics.0.unit: Invalid input'],
    ['numerator: sessions', 'numerator: share', "metrics.yml:19: unknown measure 'share'"],
    ['name: share', 'name: sessions', "metrics.yml:13: metric 'sessions' is defined twice"],
    ['known.\n    model', 'known\n    model', 'metrics.yml:7: metrics.0.mistake: write a sentence'],
  ])('with `%s` replaced by `%s`', async (right, wrong, message) => {
    await expect(read((SESSIONS + RATIO).replace(right, wrong))).rejects.toThrow(message)
  })
})
