import { rename, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadProject } from '../../src/model/project/project.ts'
import { listModels } from '../../src/model/project/compile.ts'
import { select } from '../../src/model/project/select.ts'
import { folderOfFile } from '../support/folders.ts'
import { PROJECT_YML, TINY, writeFiles, type Files } from './fixture.ts'

const MART = TINY['models/marts/fct_user.yml'] ?? ''

async function failure(changes: Files, without: readonly string[] = []): Promise<string> {
  const files = Object.entries({ ...TINY, ...changes }).filter(([file]) => !without.includes(file))
  const folder = await writeFiles(Object.fromEntries(files))
  try {
    listModels(await loadProject(folder))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const hint = 'hint' in error && typeof error.hint === 'string' ? ` | ${error.hint}` : ''
    return `${error.message.replace(folder, '')}${hint}`
  }
  throw new Error('the project was read')
}

it('a project is read with folder settings, columns and tests of its models', async () => {
  const project = await loadProject(await writeFiles(TINY))
  expect(project.models.map((model) => model.name)).toEqual(['fct_user', 'stg_user'])
  expect(project.models[0]).toMatchObject({
    file: 'models/marts/fct_user.sql',
    description: "One row per user. It's a fact.",
    config: { materialized: 'table', schema: 'main', tags: ['mart'] },
    columns: [
      { name: 'user_id', additivity: null },
      {
        name: 'sessions',
        additivity: 'sum',
        place: { file: 'models/marts/fct_user.yml', line: 10 },
      },
    ],
    tests: [
      { name: 'unique_fct_user_user_id', column: 'user_id', severity: 'error' },
      { name: 'not_null_fct_user_user_id', column: 'user_id', severity: 'error' },
    ],
  })
  expect(project.sources).toMatchObject([{ name: 'platform', tables: [{ name: 'users' }] }])
  expect(project.vars).toEqual({ smallest: 0 })
})

it('vars under the name of the project override the others, as in dbt', async () => {
  const yml = `${PROJECT_YML}  other: 1\n  tiny: {smallest: 4}\n`
  const project = await loadProject(await writeFiles({ ...TINY, 'dbt_project.yml': yml }))
  expect(project.vars).toEqual({ smallest: 4, other: 1 })
})

it('models in a linked folder and a linked file are read, as dbt does', async () => {
  const folder = await writeFiles(TINY)
  const elsewhere = await folderOfFile()
  for (const linked of ['models/marts', 'models/staging/stg_user.sql']) {
    await rename(join(folder, linked), join(elsewhere, basename(linked)))
    await symlink(join(elsewhere, basename(linked)), join(folder, linked))
  }
  const { models } = await loadProject(folder)
  expect(models.map(({ file }) => file)).toEqual([
    'models/marts/fct_user.sql',
    'models/staging/stg_user.sql',
  ])
})

it('a project is frozen deeply', async () => {
  const project = await loadProject(await writeFiles(TINY))
  expect(Object.isFrozen(project.models[0]?.columns[0]?.meta)).toBe(true)
})

it('a project lists its models in build order without a database', async () => {
  const project = await loadProject(await writeFiles(TINY))
  expect(listModels(project).map(({ name, relation }) => [name, relation])).toEqual([
    ['stg_user', 'staging.stg_user'],
    ['fct_user', 'main.fct_user'],
  ])
  expect(select(listModels(project), 'tag:mart').map(({ name }) => name)).toEqual(['fct_user'])
})

it('settings of a file override those of the yml, which override those of folders', async () => {
  const folder = await writeFiles({
    ...TINY,
    'models/marts/fct_user.yml': MART.replace(
      '    columns:',
      '    config: {schema: other, tags: [late], meta: {owner: me}}\n    columns:',
    ),
    'models/marts/fct_user.sql':
      "{{ config(materialized='view') }}select * from {{ ref('stg_user') }}",
  })
  const fact = listModels(await loadProject(folder)).find(({ name }) => name === 'fct_user')
  expect(fact).toMatchObject({
    materialized: 'view',
    relation: 'other.fct_user',
    tags: ['mart', 'late'],
    meta: { owner: 'me' },
  })
})

describe('a project is refused with file and line because of', () => {
  const cases: [string, Files, string[], string][] = [
    [
      'no project file',
      {},
      ['dbt_project.yml'],
      '/dbt_project.yml: no such file | A model project is a folder with a dbt_project.yml.',
    ],
    [
      'a model without a yml',
      {},
      ['models/marts/fct_user.yml'],
      "models/marts/fct_user.sql: model 'fct_user' has no yml | Describe the model and its columns in models/marts/fct_user.yml.",
    ],
    [
      'a yml without its model',
      { 'models/marts/x.yml': MART.replace('name: fct_user', 'name: fct_usr') },
      [],
      "models/marts/x.yml:2: unknown model 'fct_usr' | Did you mean 'fct_user'?",
    ],
    [
      'a model described twice',
      { 'models/marts/x.yml': MART },
      [],
      "models/marts/x.yml:2: model 'fct_user' is described twice",
    ],
    [
      'two models of one name',
      { 'models/other/fct_user.sql': 'select 1' },
      [],
      "models/other/fct_user.sql: the model 'fct_user' is already defined in models/marts/fct_user.sql",
    ],
    [
      'bad YAML',
      { 'models/marts/fct_user.yml': 'models:\n  - name: [\n' },
      [],
      'models/marts/fct_user.yml:3: ',
    ],
    [
      'an unknown key of a model',
      { 'models/marts/fct_user.yml': MART.replace('    columns:', '    owner: me\n    columns:') },
      [],
      "models/marts/fct_user.yml:4: models.0: unknown key 'owner' | Keys of your own belong under config.meta.",
    ],
    [
      'an unknown key of a column',
      { 'models/marts/fct_user.yml': MART.replace('        data_tests:', '        tests:') },
      [],
      "models/marts/fct_user.yml:7: models.0.columns.0: unknown key 'tests'",
    ],
    [
      'a column without a description',
      { 'models/marts/fct_user.yml': MART.replace("        description: The user's id.\n", '') },
      [],
      'models/marts/fct_user.yml:5: models.0.columns.0.description: ',
    ],
    [
      'a column described twice',
      { 'models/marts/fct_user.yml': MART.replace('- name: sessions', '- name: user_id') },
      [],
      "models/marts/fct_user.yml:10: column 'user_id' appears twice",
    ],
    [
      'an unknown test',
      { 'models/marts/fct_user.yml': MART.replace('- not_null', '- not_nul') },
      [],
      "models/marts/fct_user.yml:9: unknown test of a column 'not_nul' | Did you mean 'not_null'?",
    ],
    [
      'wrong arguments of a test',
      {
        'models/marts/fct_user.yml': MART.replace(
          '- unique',
          '- accepted_values: {arguments: {value: [1]}}',
        ),
      },
      [],
      'models/marts/fct_user.yml:8: accepted_values: arguments.values: ',
    ],
    [
      'arguments that are not under arguments',
      { 'models/marts/fct_user.yml': MART.replace('- unique', '- accepted_values: {values: [1]}') },
      [],
      "models/marts/fct_user.yml:8: models.0.columns.0.data_tests.0.accepted_values: unknown key 'values'",
    ],
    [
      'a relationship to no model',
      {
        'models/marts/fct_user.yml': MART.replace(
          '- unique',
          "- relationships: {arguments: {to: ref('stg_usr'), field: user_id}}",
        ),
      },
      [],
      "models/marts/fct_user.yml:8: unknown model 'stg_usr' | Did you mean 'stg_user'?",
    ],
    [
      'a key of unknown columns',
      {
        'models/marts/fct_user.yml': MART.replace(
          '    columns:',
          '    data_tests:\n      - unique_key: {arguments: {columns: [user]}}\n    columns:',
        ),
      },
      [],
      "models/marts/fct_user.yml:5: unknown column 'user'",
    ],
    [
      'an unknown setting of a folder',
      { 'dbt_project.yml': PROJECT_YML.replace('+schema', '+shema') },
      [],
      'dbt_project.yml:7: +shema: Unrecognized key: "shema"',
    ],
    [
      'an unsupported materialization',
      { 'dbt_project.yml': PROJECT_YML.replace('+materialized: view', '+materialized: ephemeral') },
      [],
      "dbt_project.yml:6: +materialized: the built-in runner supports 'view', 'table' and 'incremental'",
    ],
    [
      'an unknown folder',
      { 'dbt_project.yml': PROJECT_YML.replace('    marts:', '    mart:') },
      [],
      "dbt_project.yml:8: unknown folder 'mart' | Did you mean 'marts'?",
    ],
    [
      'a setting without its plus',
      { 'dbt_project.yml': PROJECT_YML.replace('+schema', 'schema') },
      [],
      "dbt_project.yml:7: 'schema' is neither a folder nor a setting | Write settings with a plus: +schema.",
    ],
    [
      'an unknown key of the project',
      { 'dbt_project.yml': `${PROJECT_YML}on-run-start: []\n` },
      [],
      "dbt_project.yml:13: unknown key 'on-run-start'",
    ],
    [
      'an unknown setting in the file',
      { 'models/marts/fct_user.sql': "\n{{ config(post_hook='a') }} select 1" },
      [],
      'models/marts/fct_user.sql:2: config: Unrecognized key: "post_hook"',
    ],
    [
      'an incremental model without the columns of its interval',
      { 'models/marts/fct_user.sql': "\n{{ config(materialized='incremental') }} select 1" },
      [],
      'models/marts/fct_user.sql:2: config: an incremental model needs a unique_key: the columns of its interval',
    ],
    [
      'the columns of an interval of a model that is not incremental',
      { 'models/marts/fct_user.sql': "\n{{ config(unique_key='a') }} select 1" },
      [],
      'models/marts/fct_user.sql:2: config: a unique_key is for incremental models, and this is a table',
    ],
    [
      'a schema in the file, whose relation is known before',
      { 'models/marts/fct_user.sql': "{{ config(schema='other') }} select 1" },
      [],
      'models/marts/fct_user.sql:1: config: Unrecognized key: "schema"',
    ],
    [
      'an unsupported strategy',
      { 'models/marts/fct_user.sql': "{{ config(incremental_strategy='merge') }} select 1" },
      [],
      "models/marts/fct_user.sql:1: config: incremental_strategy: the built-in runner supports the strategy 'delete+insert'",
    ],
    [
      'an unknown model in a hook',
      {
        'models/marts/fct_user.sql': `{{ config(pre_hook="\ndelete from {{ ref('stg_usr') }}") }} select 1`,
      },
      [],
      "models/marts/fct_user.sql (pre_hook):2: unknown model 'stg_usr' | Did you mean 'stg_user'?",
    ],
    [
      'a reference to no model',
      { 'models/marts/fct_user.sql': "select 1\nfrom {{ ref('stg_usr') }}" },
      [],
      "models/marts/fct_user.sql:2: unknown model 'stg_usr' | Did you mean 'stg_user'?",
    ],
    [
      'an empty file',
      { 'models/marts/fct_user.sql': '{# nothing #}\n' },
      [],
      'models/marts/fct_user.sql: the file renders to nothing',
    ],
    [
      'a cycle of models',
      {
        'models/staging/stg_user.sql': "select * from {{ ref('fct_user') }}",
      },
      [],
      'models/marts/fct_user.sql:2: models depend on each other in a cycle: fct_user -> stg_user -> fct_user | Remove one of these references.',
    ],
    [
      'a source described twice',
      { 'models/marts/_sources.yml': TINY['models/staging/_sources.yml'] ?? '' },
      [],
      "models/staging/_sources.yml:2: source 'platform' is described twice",
    ],
  ]
  it.each(cases)('%s', async (_, changes, without, message) => {
    expect(await failure(changes, without)).toContain(message)
  })
})

describe('doc blocks', () => {
  const DOCS = 'About us.\n{% docs user_id %}\nNames the user.\n{% enddocs %}\n'
  const CALLED = MART.replace(/description: [^\n]*/, `description: "{{ doc('user_id') }} One row."`)

  it('replace their calls in descriptions', async () => {
    const files = { ...TINY, 'models/docs.md': DOCS, 'models/marts/fct_user.yml': CALLED }
    const project = await loadProject(await writeFiles(files))
    expect(project.models[0]?.description).toBe('Names the user. One row.')
    expect(project.docs).toEqual([
      { name: 'user_id', file: 'models/docs.md', text: 'Names the user.' },
    ])
  })

  it.each([
    [{ 'models/marts/fct_user.yml': CALLED }, "fct_user.yml:3: unknown doc block 'user_id'"],
    [
      { 'models/marts/fct_user.yml': CALLED.replace('doc(', 'var('), 'models/docs.md': DOCS },
      "fct_user.yml:3: a description must not contain a tag other than {{ doc('name') }}",
    ],
    [{ 'models/a.md': `${DOCS}{% docs more %}` }, "a.md:5: a doc block is '{% docs name %}"],
    [{ 'models/a.md': '{% enddocs %}' }, "a.md:1: a doc block is '{% docs name %}"],
    [{ 'models/a.md': '\n{% docs a %} {% enddocs %}' }, "a.md:2: doc block 'a' must not be empty"],
    [
      { 'models/a.md': '{% docs a %}{{ b }}{% enddocs %}' },
      "a.md:1: doc block 'a' must not contain a tag",
    ],
    [
      { 'models/a.md': DOCS, 'models/b.md': DOCS },
      "b.md:2: the doc block 'user_id' is already defined in models/a.md",
    ],
  ])('are refused when they are broken: %j', async (files, message) => {
    expect(await failure(files)).toContain(message)
  })
})
