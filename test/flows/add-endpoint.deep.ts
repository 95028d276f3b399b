import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { MACHINE } from '../support/machine.ts'
import { readLake } from './platform.ts'
import { standIn } from '../support/stand-in.ts'

/** What CONTRIBUTING.md says that an endpoint takes, for `GET /api/v1/analytics/reviews`. */
const PATCH = join(packageRoot, 'test', 'fixtures', 'add-endpoint', 'reviews.patch')
const REGISTRY = 'src/lake/resources.ts'
const FILES = execFileSync('git', ['apply', '--numstat', PATCH], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .map((line) => line.split('\t')[2] ?? '')

const NOW = Date.parse('2026-01-17T06:00:00Z')

/** The package as it is with some of the files, compiled. */
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agent-warehouse-'))
  packageWith(FILES, join(folder, 'all'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

function packageWith(files: readonly string[], to: string): string {
  mkdirSync(to)
  const parts = ['src', 'sql', 'dbt-like-models', 'package.json']
  for (const each of [...parts, 'tsconfig.json', 'tsconfig.build.json', 'rolldown.config.mjs'])
    cpSync(join(packageRoot, each), join(to, each), { recursive: true })
  symlinkSync(join(packageRoot, 'node_modules'), join(to, 'node_modules'))
  addModel(to)
  const included = files.map((file) => `--include=${file}`)
  execFileSync('git', ['apply', ...included, PATCH], { cwd: to })
  // what is compiled already: with the entry of the registry, or without it
  const compiled = files.includes(REGISTRY)
    ? join(folder, 'all', 'dist')
    : join(packageRoot, 'dist')
  if (to === join(folder, 'all')) {
    execFileSync('npm', ['run', '--silent', 'prepack'], { cwd: to })
    expect(existsSync(join(to, 'dist', 'index.d.ts'))).toBe(true)
  } else cpSync(compiled, join(to, 'dist'), { recursive: true })
  return to
}

/** The stand-in, which serves the endpoint too: three users a day, each on a page of their own. */
async function platformWithReviews(clock: { now: number; comments: number }) {
  const platform = await standIn({
    users: 4,
    now: () => clock.now,
    intercept: ({ path, query }) => {
      if (path !== '/api/v1/analytics/reviews') return undefined
      const user = Number(query.get('cursor') ?? 1)
      const row = {
        user_id: `user-${user}`,
        date: query.get('startDate'),
        reviews: user,
        review_comments: clock.comments * user,
      }
      const data = user === 3 ? [{ ...row, tone: 'kind' }] : [row]
      const meta = user === 3 ? { has_more: false } : { has_more: true, next_cursor: `${user + 1}` }
      return Response.json({ data, meta })
    },
  })
  return platform
}

/** A model that reads the added table. */
function addModel(root: string): void {
  const path = join(root, 'dbt-like-models', 'models', 'staging', 'usage', 'stg_platform__reviews')
  const select = 'select user_id, review_comments'
  writeFileSync(`${path}.sql`, `${select} from {{ source('platform', 'reviews') }}\n`)
  writeFileSync(
    `${path}.yml`,
    `models:
    - name: stg_platform__reviews
      description: One row per user and day.
      columns:
          - { name: user_id, description: The user. }
          - { name: review_comments, description: Comments in reviews. }
`,
  )
}

/** A first night of a package with that model, and its outcome. */
async function firstNight(root: string) {
  const clock = { now: NOW, comments: 10 }
  const platform = await platformWithReviews(clock)
  const data = await temporaryFolder()
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...MACHINE,
    AGENT_BASE_URL: platform.url,
    AGENT_API_KEY: platform.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
  }
  const run = async (...args: string[]): Promise<string> => {
    const main = join(root, 'dist', 'cli', 'main.js')
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env })
    return stdout
  }
  const succeeds = (...args: string[]): Promise<boolean> =>
    run(...args).then(
      () => true,
      () => false,
    )
  const base = (entity: string, select: string) => {
    const file = `'{lake}/base/${entity}/*/*/data.parquet'`
    return readLake(data, `from read_parquet(${file}, hive_partitioning = false) ${select}`).catch(
      () => [],
    )
  }
  const outcome = {
    isComplete: await succeeds('sync', '--log', 'none'),
    rows: await base(
      'reviews',
      'select count(*)::integer as rows, sum(reviews)::integer as reviews',
    ),
    drift: await base(
      'schema_drift',
      "select distinct path, kind where resource = 'reviews' and path is not null order by all",
    ),
    isReadable: await succeeds('build', '--plan'),
  }
  return { clock, platform, run, base, outcome }
}

const WHOLE = {
  isComplete: true,
  rows: [{ rows: 9, reviews: 18 }],
  drift: [{ path: '$.tone', kind: 'unknown' }],
  isReadable: true,
}

/** The outcome where a file is left out. */
const SYMPTOMS: Readonly<Record<string, object>> = {
  [REGISTRY]: { rows: [], drift: [] },
  'sql/base/reviews.sql': { isComplete: false, rows: [], drift: [], isReadable: false },
  'sql/drift/expected.sql': { isComplete: false, rows: [{ rows: 0, reviews: null }], drift: [] },
  'dbt-like-models/models/staging/_sources.yml': { isReadable: false },
}

describe('an endpoint', () => {
  it('is added in four files', () => {
    expect(FILES).toHaveLength(4)
    expect(Object.keys(SYMPTOMS).sort()).toEqual(FILES)
  })

  it('that was added lands, reaches base, is rechecked, and can be read by models', async () => {
    const { clock, platform, run, base, outcome } = await firstNight(join(folder, 'all'))
    expect(outcome).toEqual(WHOLE)
    const rows = await base('reviews', 'select * exclude (org_id, fetched_at) order by all limit 2')
    expect(rows).toEqual([
      { activity_date: '2026-01-14', user_id: 'user-1', reviews: '1', review_comments: '10' },
      { activity_date: '2026-01-14', user_id: 'user-2', reviews: '2', review_comments: '20' },
    ])
    expect(await run('doctor')).toContain('may read the analytics')

    expect(await run('plan', '--only', 'reviews'), 'an idle night').toContain('nothing is due')
    const asked = platform.requests.length
    expect(await run('sync', '--log', 'none')).not.toContain('base files')
    const later = platform.requests.slice(asked).filter(({ path }) => path.includes('/reviews'))
    expect(later).toEqual([])

    clock.now += 86_400_000
    clock.comments = 11
    await run('run', '--log', 'none')
    const query = async (sql: string): Promise<unknown> =>
      JSON.parse(await run('query', sql, '--format', 'json'))
    const counted = 'select count(*) as rows, sum(review_comments) as comments'
    expect(await query(`${counted} from staging.stg_platform__reviews`)).toEqual([
      { rows: 12, comments: 6 * 10 + 3 * 6 * 11 }, // two of three days were rechecked
    ])
    const changed = `select entity_key, metric, old_value, new_value from fct_restatement
      where resource = 'reviews' and activity_date = '2026-01-16' order by all limit 1`
    expect(await query(changed)).toEqual([
      { entity_key: 'user-1', metric: 'review_comments', old_value: '10', new_value: '11' },
    ])
  })

  it.each(FILES)('does not work where %s is left out', async (file) => {
    const others = FILES.filter((each) => each !== file)
    const root = packageWith(others, join(folder, `without-${FILES.indexOf(file)}`))
    const { outcome } = await firstNight(root)
    expect(outcome).toEqual({ ...WHOLE, ...SYMPTOMS[file] })
  })
})
