import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dump } from 'js-yaml'
import { packageRoot, statement } from '../../src/lib/package.ts'
import { listModels } from '../../src/model/project/compile.ts'
import { loadProject } from '../../src/model/project/project.ts'
import { project } from './alone.ts'
import { TINY, writeFiles } from './fixture.ts'

const marts = listModels(project)
  .filter(({ schema }) => schema === 'main')
  .map(({ name }) => name)

/** The marts that the statements of a folder of `sql/` read. */
function martsOf(folder: string): string[] {
  const files = readdirSync(join(packageRoot, 'sql', folder))
  const text = files.map((file) => statement(`${folder}/${file.replace('.sql', '')}`)).join('\n')
  const found = new Set([...text.matchAll(/\bmain\.(\w+)/g)].map(([, name = '']) => name))
  return [...found].sort()
}

const EXPOSURES = [
  {
    name: 'report',
    label: 'Report',
    type: 'dashboard',
    description: '`agent-warehouse report`: one HTML file with charts, or its findings as text.',
    reads: martsOf('report'),
  },
  {
    name: 'questions',
    label: 'Ready-made questions',
    type: 'analysis',
    description: '`agent-warehouse query --analysis`, some of which the demo answers.',
    reads: martsOf('analyses'),
  },
  {
    name: 'exports',
    label: 'Exports',
    type: 'application',
    description: '`agent-warehouse export`: every mart as Parquet, CSV or one DuckDB file.',
    reads: marts.toSorted(),
  },
]

function yml(): string {
  const exposures = EXPOSURES.map(({ reads, ...exposure }) => ({
    ...exposure,
    maturity: 'high',
    owner: { name: 'agent-warehouse' },
    depends_on: reads.map((name) => `ref('${name}')`),
  }))
  const text = dump({ exposures })
  return `# Written by \`npm run docs:exposures\` from sql/report, sql/analyses and the marts.\n${text}`
}

it('models/exposures.yml names every reader of marts: `npm run docs:exposures` writes it', async () => {
  const file = join(packageRoot, 'dbt-like-models', 'models', 'exposures.yml')
  await expect(yml()).toMatchFileSnapshot(file)
  expect(EXPOSURES.map(({ reads }) => reads.filter((name) => !marts.includes(name)))).toEqual([
    [],
    [],
    [],
  ])
})

const EXPOSURE = `exposures:
  - name: page
    type: dashboard
    description: A page of charts.
    owner: {name: Analysts}
    depends_on:
      - ref('fct_user')
`

it('an exposure is read with its dependencies', async () => {
  const { exposures } = await loadProject(
    await writeFiles({ ...TINY, 'models/exposures.yml': EXPOSURE }),
  )
  expect(exposures).toMatchObject([
    { name: 'page', type: 'dashboard', label: null, dependsOn: ['fct_user'] },
  ])
})

it.each([
  ["ref('fct_user')", "ref('fct_users')", "models/exposures.yml:6: unknown model 'fct_users'"],
  [
    "ref('fct_user')",
    'fct_user',
    "exposures.yml:7: exposures.0.depends_on.0: write ref('model_name')",
  ],
  ['dashboard', 'poster', 'models/exposures.yml:3: exposures.0.type'],
  ['owner: {name: Analysts}', 'owner: {}', 'models/exposures.yml:5: exposures.0.owner.name'],
  ['type:', 'kind:', 'models/exposures.yml:'],
])(
  'an exposure with `%s` replaced by `%s` is refused with its line',
  async (right, wrong, message) => {
    const text = EXPOSURE.replace(right, wrong)
    const folder = await writeFiles({ ...TINY, 'models/exposures.yml': text })
    await expect(loadProject(folder)).rejects.toThrow(message)
  },
)
