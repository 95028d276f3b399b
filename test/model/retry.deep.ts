import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/lib/errors.ts'
import type { BuildOptions } from '../../src/model/shared/context.ts'
import { serve, WITH_RATIO } from './daily.ts'
import { Bench, TINY, type Files } from './fixture.ts'

const YML = (name: string, test = ''): string => `models:
  - name: ${name}
    description: One row.
    columns:
      - {name: users, description: Users.${test}}
`

/** A chain of models, and a branch. */
const CHAIN: Files = {
  ...TINY,
  'models/marts/fct_total.sql': "select count(*) as users from {{ ref('fct_user') }}",
  'models/marts/fct_total.yml': YML('fct_total'),
  'models/marts/fct_branch.sql': "select count(*) as users from {{ ref('stg_user') }}",
  'models/marts/fct_branch.yml': YML('fct_branch'),
}

const BROKEN: Files = { ...CHAIN, 'models/marts/fct_user.sql': 'select * from no_such_table' }
const FAILING: Files = {
  ...CHAIN,
  'models/marts/fct_user.yml': (CHAIN['models/marts/fct_user.yml'] ?? '').replace(
    '        config:\n',
    '        data_tests: [{accepted_values: {arguments: {values: [3, 5]}}}]\n        config:\n',
  ),
}

function placesOf(bench: Bench, sources = 'as they were'): Partial<BuildOptions> {
  return {
    failedFile: { path: join(bench.data, 'failed', 'warehouse.duckdb'), sources },
    artifacts: { folder: join(bench.data, 'target'), builder: 'agent-warehouse 0.0.0' },
  }
}

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

const namesOf = (built: readonly { readonly name: string }[]) => built.map(({ name }) => name)

describe('a retry', () => {
  it('builds the failed models and their readers, and publishes them with the models built before', async () => {
    const bench = await Bench.open()
    const places = placesOf(bench)
    await bench.build(CHAIN, places)
    await bench.land("('a', 'u1', 1), ('a', 'u2', 2)")
    await refusal(bench.build(BROKEN, { ...places, runId: 'run-2' }))
    const { models } = await bench.build(CHAIN, { ...places, runId: 'run-3', retry: true })
    expect(namesOf(models)).toEqual(['fct_user', 'fct_total'])
    for (const fact of ['fct_user', 'fct_total', 'fct_branch']) {
      const users = fact === 'fct_user' ? 'count(*)' : 'max(users)'
      expect(await bench.rows(`select ${users} as users from ${fact}`)).toEqual([{ users: '2' }])
    }
  })

  it('runs a failed check again, and drops the stored rows of the failure', async () => {
    const bench = await Bench.open()
    const places = placesOf(bench)
    await refusal(bench.build(FAILING, { ...places, runId: 'run-1' }))
    const again = await refusal(bench.build(FAILING, { ...places, runId: 'run-2', retry: true }))
    expect(again).toMatchObject({ exitCode: 6 })
    const { models } = await bench.build(CHAIN, { ...places, runId: 'run-3', retry: true })
    expect(namesOf(models)).toEqual(['fct_user', 'fct_total'])
    const left = `select table_name from information_schema.tables
      where table_schema like '%audit%' and table_catalog = current_database()`
    expect(await bench.rows(left)).toEqual([])
  })

  it.each([
    ['a model', BROKEN, ['fct_user', 'fct_total']],
    ['a check of a column', FAILING, ['fct_user', 'fct_total']],
    [
      'a check of several models',
      { ...CHAIN, 'tests/no_total.sql': "select * from {{ ref('fct_total') }}" },
      ['fct_total'],
    ],
  ])('after the failure of %s needs no artifacts of the failed build', async (_, files, names) => {
    const bench = await Bench.open()
    const places = placesOf(bench)
    await refusal(bench.build(files, { ...places, runId: 'run-2' }))
    await rm(join(bench.data, 'target'), { recursive: true })
    const fixed = {
      ...CHAIN,
      'tests/no_total.sql': "select * from {{ ref('fct_total') }} where users < 0",
    }
    const { models } = await bench.build(fixed, { ...places, runId: 'run-3', retry: true })
    expect(namesOf(models)).toEqual(expect.arrayContaining(names))
    expect(namesOf(models)).not.toContain('fct_branch')
  })

  it('is refused when no build failed, and when the sources have changed', async () => {
    const bench = await Bench.open()
    await bench.build(CHAIN, placesOf(bench))
    const none = await refusal(bench.build(CHAIN, { ...placesOf(bench), retry: true }))
    expect(none).toBeInstanceOf(UsageError)
    expect(none).toMatchObject({ message: '--retry: no build has failed' })
    await refusal(bench.build(BROKEN, { ...placesOf(bench), runId: 'run-2' }))
    const other = await refusal(bench.build(CHAIN, { ...placesOf(bench, 'other'), retry: true }))
    expect(other).toMatchObject({
      message:
        '--retry: other days have landed or were requested since run run-2 failed, or it was a build with --as-of',
      hint: 'Build everything: agent-warehouse build.',
    })
  })
})

/** Options of a build of some models, of sources with this content. */
function part(bench: Bench, content: string, options: Partial<BuildOptions> = {}) {
  return { ...placesOf(bench), sourceContent: () => content, ...options }
}

describe('a retry after a build of some models', () => {
  const NUMBERED: Files = {
    ...CHAIN,
    'tests/no_negative_id.sql':
      "select * from {{ ref('fct_user') }} where cast(user_id as int) < 0",
  }

  it('runs a check again that DuckDB refused, although it passed before', async () => {
    const bench = await Bench.open()
    await bench.land("('a', '1', 1)")
    await bench.build(NUMBERED, part(bench, 'v1'))
    await bench.land("('a', 'one', 1)")
    const refused = /check 'no_negative_id': .*Could not convert string 'one'/
    const some = part(bench, 'v2', { runId: 'run-2', select: '+fct_user' })
    await expect(bench.build(NUMBERED, some)).rejects.toThrow(refused)
    const again = part(bench, 'v2', { runId: 'run-3', retry: true })
    await expect(bench.build(NUMBERED, again)).rejects.toThrow(refused)
    expect(await bench.rows('select user_id from fct_user')).toEqual([{ user_id: '1' }])
  })

  it('does not publish the infinite numbers of an incremental model', async () => {
    const bench = await Bench.open()
    await serve(bench, [['a', '2026-01-14', 'u1', 1, 'v1']])
    await bench.build(WITH_RATIO, part(bench, 'v1'))
    await serve(bench, [
      ['a', '2026-01-14', 'u1', 1, 'v1'],
      ['a', '2026-01-15', 'u1', 2, 'v1'],
    ])
    const infinite = "column 'ratio' is infinite"
    const some = part(bench, 'v2', { runId: 'run-2', select: '+fct_user_day' })
    await expect(bench.build(WITH_RATIO, some)).rejects.toThrow(infinite)
    const again = part(bench, 'v2', { runId: 'run-3', retry: true })
    await expect(bench.build(WITH_RATIO, again)).rejects.toThrow(infinite)
    expect(await bench.rows('select count(*) as days from fct_user_day')).toEqual([{ days: '1' }])
  })

  it('builds a refused model again after its statement was restored', async () => {
    const bench = await Bench.open()
    const divided = (by: string): Files => ({
      ...CHAIN,
      'models/marts/fct_total.sql': `select 1 / ${by} as users`,
    })
    await bench.build(divided('2'), part(bench, 'v1'))
    const some = part(bench, 'v2', { runId: 'run-2', select: 'fct_total +fct_user' })
    await expect(bench.build(divided('0'), some)).rejects.toThrow('is infinite')
    await bench.build(divided('2'), part(bench, 'v2', { runId: 'run-3', retry: true }))
    expect(await bench.rows('select users from fct_total')).toEqual([{ users: 0.5 }])
  })
})

describe('state and result selectors', () => {
  it('select models changed since they were published, and models by their last result', async () => {
    const bench = await Bench.open()
    const places = placesOf(bench)
    await bench.build(CHAIN, places)
    const none = await bench.build(CHAIN, { ...places, select: 'state:modified' })
    expect(none.models).toEqual([])
    const changed: Files = {
      ...CHAIN,
      'models/marts/fct_branch.sql': "select 1 + count(*) as users from {{ ref('stg_user') }}",
    }
    const { models } = await bench.build(changed, { ...places, select: 'state:modified+' })
    expect(namesOf(models)).toEqual(['fct_branch'])
    await refusal(bench.build(FAILING, { ...places, runId: 'run-2', select: 'fct_user+' }))
    const after = await bench.build(changed, { ...places, select: 'result:fail' })
    expect(namesOf(after.models)).toEqual(['fct_user'])
    const rest = await bench.build(changed, { ...places, exclude: 'fct_user+ stg_user' })
    expect(namesOf(rest.models)).toEqual(['fct_branch'])
  })
})

it('law 7: a build of some models checks the other models that refer to them', async () => {
  const bench = await Bench.open()
  const yml = YML('fct_known').replace(
    '{name: users, description: Users.}',
    `name: user_id
        description: The user.
        data_tests: [{relationships: {arguments: {to: ref('fct_user'), field: user_id}}}]`,
  )
  const files = {
    ...TINY,
    'models/marts/fct_known.sql': "select 'u1' as user_id",
    'models/marts/fct_known.yml': yml,
  }
  await bench.build(files)
  await bench.land("('a', 'u2', 3)")
  await expect(bench.build(files, { select: '+fct_user' })).rejects.toThrow(/fct_known/)
  const unbuilt = {
    ...files,
    'models/marts/fct_new.sql': "select 'u1' as user_id",
    'models/marts/fct_new.yml': yml.replace('fct_known', 'fct_new'),
  }
  await bench.land("('a', 'u1', 3)")
  const { checks } = await bench.build(unbuilt, { select: '+fct_user' })
  expect(checks.map(({ model }) => model)).toContain('fct_known')
  expect(checks.map(({ model }) => model)).not.toContain('fct_new')
})
