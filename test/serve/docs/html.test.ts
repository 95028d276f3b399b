import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/lib/package.ts'
import { listModels } from '../../../src/model/project/compile.ts'
import { loadProject } from '../../../src/model/project/project.ts'
import type { Metric } from '../../../src/model/project/shapes.ts'
import type { ModelNode } from '../../../src/model/project/types.ts'
import { docsHtml } from '../../../src/serve/docs/html.ts'
import { lineage } from '../../../src/serve/docs/lineage.ts'
import type { DocumentedModel, Published } from '../../../src/serve/docs/read.ts'

const NOTHING: Published = { build: null, tables: new Map(), rows: new Map(), checks: new Map() }

let models: readonly ModelNode[]
let metrics: readonly Metric[]
let text: string
beforeAll(async () => {
  const project = await loadProject(join(packageRoot, 'dbt-like-models'))
  models = listModels(project)
  metrics = project.metrics
  text = docsHtml({ models, metrics }, NOTHING)
})

describe('the documentation', () => {
  it('has a section for every model and metric, and no broken link', () => {
    const names = [
      ...models.map(({ name }) => name),
      ...metrics.map(({ name }) => `metric-${name}`),
    ]
    for (const name of names) expect(text).toContain(`<section class="model" id="${name}">`)
    const targets = [...text.matchAll(/href="#([^"]+)"/g)].map(([, target]) => target)
    expect(new Set(targets)).toEqual(new Set(names))
  })

  it('has every column with its meaning', () => {
    const model = models.find(({ name }) => name === 'fct_user_day')
    const meanings = model?.columns.map(({ description }) => description.split(/[`"&<]/)[0] ?? '')
    expect(meanings).not.toEqual([])
    for (const meaning of meanings ?? []) expect(text).toContain(meaning)
  })

  it('says how each metric is computed, over what it can be added up, and the usual mistake', () => {
    const [, section = ''] = /id="metric-stickiness">(.*?)<\/section>/s.exec(text) ?? []
    expect(section).toContain('href="#metric-user_days_30d"')
    expect(section).toContain('nothing: compute it again for the whole')
    const [, credits = ''] = /id="metric-credits">(.*?)<\/section>/s.exec(text) ?? []
    expect(credits).toContain('<code>sum(billable_tokens)</code> over the rows of')
    expect(credits).toContain('Compare the same days of both.')
  })

  it('allows only its own script and no request', () => {
    const [, script = ''] = /<script>(.*)<\/script>\n<\/body>/s.exec(text) ?? []
    const sha256 = createHash('sha256').update(script).digest('base64')
    expect(text).toContain(
      `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${sha256}'`,
    )
    expect(text).not.toMatch(/(src|href)="?https?:/)
  })

  it('shows types, row counts, keys and results of checks', () => {
    const made = docsHtml(
      { models: [model('fct_a', [])], metrics: [] },
      {
        build: { runId: 'run-1', builtAt: '2026-02-01T04:05:06.000Z', asOf: null },
        tables: new Map([['main.fct_a', FCT_A]]),
        rows: new Map([['main.fct_a', 1234]]),
        checks: new Map([
          [
            'fct_a',
            [
              { ...CHECK, check_name: 'not_null_fct_a_org_id', column_name: 'org_id' },
              { ...CHECK, check_name: 'unique_key_fct_a_org_id_credits' },
              { ...CHECK, check_name: 'assert_sums', status: 'warn', failures: 3 },
            ],
          ],
        ]),
      },
    )
    expect(made).toContain('built 2026-02-01 04:05 UTC')
    expect(made).toContain('table · 1,234 rows · one row per <code>org_id</code>')
    expect(made).toContain('not null <span class="good">passed</span>')
    expect(made).toContain('<li>unique key <span class="good">passed</span>')
    expect(made).toContain('assert sums <span class="bad">warn: 3 rows</span>')
    expect(made).toContain('<td>credits</td><td>semi additive</td>')
  })

  it('escapes text', () => {
    const hostile = { ...model('fct_a', []), description: '<script>"x"</script> & `a<b`' }
    expect(docsHtml({ models: [hostile], metrics: [] }, NOTHING)).toContain(
      '&lt;script&gt;&quot;x&quot;&lt;/script&gt; &amp; <code>a&lt;b</code>',
    )
  })
})

describe('the lineage of a model', () => {
  it('shows its sources on the left and its readers on the right', () => {
    const reads = new Map([
      ['stg', ['platform.users']],
      ['fct', ['stg', 'seed']],
      ['mart', ['fct']],
      ['other', []],
    ])
    const places = [...lineage('fct', reads).matchAll(/<text x="(\d+)"[^>]*>([^<]+)</g)]
    expect(places.map(([, x, name]) => [name, Math.floor(Number(x) / 236)])).toEqual([
      ['platform.users', 0],
      ['seed', 1],
      ['stg', 1],
      ['fct', 2],
      ['mart', 3],
    ])
  })
})

const CHECK = { model: 'fct_a', column_name: null, status: 'pass', failures: 0 }

const COLUMN = { type: 'VARCHAR', unit: null, description: null, additivity: null }

const FCT_A = {
  ...{ schema: 'main', name: 'fct_a', description: null, grain: null, key: ['org_id'] },
  columns: [
    { ...COLUMN, name: 'org_id' },
    { ...COLUMN, name: 'credits', unit: 'credits', additivity: 'semi_additive' },
  ],
}

function model(name: string, dependsOn: readonly string[]): DocumentedModel {
  const columns = ['org_id', 'credits'].map((each) => ({ name: each, description: `The ${each}.` }))
  const made = { schema: 'main', materialized: 'table' } as const
  const file = `models/marts/usage/${name}.sql`
  return { ...made, name, file, columns, dependsOn, description: '', sql: 'select 1', sources: [] }
}
