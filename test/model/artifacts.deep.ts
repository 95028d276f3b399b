import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import { Bench, TINY, type Files } from './fixture.ts'

type Artifact = Readonly<Record<string, unknown>>

const SCHEMAS = {
  manifest: 'manifest-v12',
  run_results: 'run-results-v6',
  catalog: 'catalog-v1',
  sources: 'sources-v3',
} as const
type Name = keyof typeof SCHEMAS
const NAMES = Object.keys(SCHEMAS) as readonly Name[]

const validators = new Map<Name, ValidateFunction>()

beforeAll(async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  for (const name of NAMES) {
    const path = join(packageRoot, 'test', 'schemas', `${SCHEMAS[name]}.json`)
    validators.set(name, ajv.compile(JSON.parse(await readFile(path, 'utf8')) as object))
  }
})

/** Builds, and reads the artifacts, each of which must match dbt's schema. */
async function artifactsOf(bench: Bench, files: Files, options = {}) {
  const folder = join(bench.data, 'target')
  const artifacts = { folder, builder: 'agent-warehouse 0.0.0' }
  const error = await bench.build(files, { artifacts, ...options }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  const found: Partial<Record<Name, Artifact>> = {}
  for (const name of NAMES) {
    const isThere = (await readdir(folder)).includes(`${name}.json`)
    if (!isThere) continue
    const content = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')) as Artifact
    const validate = validators.get(name)
    validate?.(content)
    expect(validate?.errors ?? [], name).toEqual([])
    found[name] = content
  }
  return { error, ...found }
}

const RICH: Files = {
  ...TINY,
  'seeds/plans.csv': 'plan,seats\nteam,5\n',
  'seeds/plans.yml': `seeds:
  - name: plans
    description: One row per plan.
    config: {schema: seeds, column_types: {plan: varchar, seats: bigint}}
    columns:
      - {name: plan, description: The plan., data_tests: [unique]}
      - {name: seats, description: Seats.}
`,
  'snapshots/plans_history.yml': `snapshots:
  - name: plans_history
    description: One row per plan and time.
    relation: ref('plans')
    config: {schema: snapshots, unique_key: plan, strategy: check, check_cols: [seats]}
    columns:
      - {name: plan, description: The plan.}
      - {name: seats, description: Seats.}
      - {name: dbt_scd_id, description: Identifies the row.}
      - {name: dbt_updated_at, description: When.}
      - {name: dbt_valid_from, description: From when.}
      - {name: dbt_valid_to, description: Until when.}
`,
  'tests/no_negative.sql': "-- None.\nselect * from {{ ref('fct_user') }} where sessions < 0\n",
  'models/marts/fct_total.sql': "select count(*) as users from {{ ref('fct_user') }}\n",
  'models/marts/fct_total.yml': `models:
  - name: fct_total
    description: One row.
    columns:
      - name: users
        description: Users.
        data_tests:
          - accepted_values: {arguments: {values: [3, '4']}, config: {severity: warn}}
unit_tests:
  - name: counts_users
    model: fct_total
    given:
      - input: ref('fct_user')
        rows: [{user_id: a}, {user_id: b}]
    expect:
      rows: [{users: 2}]
`,
}

/** Statuses by the last parts of the ids, without the digests that end those of tests. */
function statusesOf(results: Artifact | undefined): Record<string, string> {
  const all = results?.['results'] as { unique_id: string; status: string }[]
  return Object.fromEntries(
    all.map(({ unique_id: id, status }) => [
      id
        .replace(/\.[0-9a-f]{10}$/, '')
        .split('.')
        .slice(2)
        .join('.'),
      status,
    ]),
  )
}

describe('the artifacts of a build', () => {
  it('match dbt’s schemas, and list the nodes of the project and their results', async () => {
    const bench = await Bench.open()
    const { error, manifest, run_results: results, catalog } = await artifactsOf(bench, RICH)
    expect(error).toBeUndefined()
    expect(manifest).toMatchObject({
      metadata: {
        dbt_schema_version: 'https://schemas.getdbt.com/dbt/manifest/v12.json',
        project_name: 'tiny',
        adapter_type: 'duckdb',
        env: { run_id: 'run-1', built_by: 'agent-warehouse 0.0.0' },
      },
      nodes: {
        'model.tiny.fct_user': {
          relation_name: '"warehouse"."main"."fct_user"',
          depends_on: { nodes: ['model.tiny.stg_user'] },
          description: "One row per user. It's a fact.",
          columns: { sessions: { meta: { additivity: 'sum' } } },
        },
      },
      parent_map: {
        'model.tiny.stg_user': ['source.tiny.platform.users'],
        'test.tiny.no_negative': ['model.tiny.fct_user'],
        'snapshot.tiny.plans_history': ['seed.tiny.plans'],
        'unit_test.tiny.fct_total.counts_users': ['model.tiny.fct_total'],
      },
      child_map: { 'source.tiny.platform.users': ['model.tiny.stg_user'] },
    })
    expect(statusesOf(results)).toEqual({
      plans: 'success',
      unique_plans_plan: 'pass',
      plans_history: 'success',
      stg_user: 'success',
      fct_user: 'success',
      'fct_total.counts_users': 'pass',
      fct_total: 'success',
      no_negative: 'pass',
      accepted_values_fct_total_users__3__4: 'pass',
      not_null_fct_user_user_id: 'pass',
      unique_fct_user_user_id: 'pass',
    })
    expect(catalog).toMatchObject({
      nodes: {
        'model.tiny.stg_user': { metadata: { type: 'VIEW', schema: 'staging' } },
        'model.tiny.fct_user': {
          metadata: { type: 'BASE TABLE', comment: "One row per user. It's a fact." },
          columns: { sessions: { type: 'BIGINT', index: 2, comment: 'Sessions of the user.' } },
        },
      },
    })
  })

  it('list a failed model as error, its readers as skipped, and the results of all others', async () => {
    const bench = await Bench.open()
    await bench.build(RICH)
    const broken: Files = {
      ...RICH,
      'models/marts/fct_user.sql': 'select user_id, error(user_id) as sessions from no_such_table',
      'models/marts/fct_other.sql': "select count(*) as users from {{ ref('stg_user') }}",
      'models/marts/fct_other.yml': `models:
  - name: fct_other
    description: One row.
    columns:
      - {name: users, description: Users., data_tests: [{accepted_values: {arguments: {values: [9]}}}]}
`,
    }
    const { error, run_results: results, catalog } = await artifactsOf(bench, broken)
    expect(error).toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(
        /^2 problems: models\/marts\/fct_user.sql: model 'fct_user': .*no_such_table.*; a check failed: accepted_values_fct_other_users \(1 row\)$/,
      ) as string,
      hint: expect.stringContaining('-- accepted_values_fct_other_users') as string,
    })
    const statuses = statusesOf(results)
    expect(statuses).toMatchObject({
      stg_user: 'success',
      fct_user: 'error',
      fct_total: 'skipped',
      no_negative: 'skipped',
      fct_other: 'success',
      accepted_values_fct_other_users__9: 'fail',
    })
    expect(catalog).toBeUndefined()
    expect(await bench.rows('select * from fct_total')).toEqual([{ users: '3' }])
  })
})
