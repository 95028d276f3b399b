import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { packageRoot } from '../src/store/root.ts'
import { hasTest } from './titles.ts'

const read = (name: string): string => readFileSync(join(packageRoot, name), 'utf8')

const workflowSchema = z.object({
  on: z.object({ pull_request: z.object({}), push: z.object({ branches: z.array(z.string()) }) }),
  permissions: z.record(z.string(), z.string()),
  jobs: z.object({
    ci: z.object({
      strategy: z.object({ matrix: z.strictObject({ node: z.array(z.int()) }) }),
      steps: z.array(
        z.strictObject({
          uses: z.string().optional(),
          with: z.record(z.string(), z.unknown()).optional(),
          run: z.string().optional(),
        }),
      ),
    }),
  }),
})

describe('the workflow of contributors', () => {
  const text = read('.github/workflows/ci.yml')
  const workflow = workflowSchema.parse(parse(text))
  const { steps, strategy } = workflow.jobs.ci

  it('runs what .ci/run runs, and nothing else, for each change and on main', () => {
    expect(steps.flatMap(({ run }) => run ?? [])).toEqual(['.ci/run'])
    expect(workflow.on).toEqual({ pull_request: {}, push: { branches: ['main'] } })
  })

  it('runs on every version of Node.js that package.json supports', () => {
    const manifest = z.object({ engines: z.object({ node: z.string() }) })
    const { engines } = manifest.parse(JSON.parse(read('package.json')))
    const supported = engines.node.split('||').map((range) => Number(/\d+/.exec(range)?.[0]))
    expect(strategy.matrix.node).toEqual(supported)
    const uses = steps.find((step) => step.uses?.startsWith('actions/setup-node@'))
    expect(uses?.with).toEqual({ 'node-version': '${{ matrix.node }}' })
  })

  it('may only read, and keeps no credential for the code that it runs', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    const checkout = steps.find((step) => step.uses?.startsWith('actions/checkout@'))
    expect(checkout?.with).toEqual({ 'persist-credentials': false })
  })

  it('pins each action by its commit, with its version', () => {
    const uses = text.split('\n').filter((line) => line.includes('uses:'))
    expect(uses).toHaveLength(2)
    for (const line of uses) expect(line).toMatch(/uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })
})

describe('.ci/run', () => {
  const targets = (text: string): string[] =>
    [...text.matchAll(/\bmake ([a-z-]+)/g)].map(([, target = '']) => target)

  it('runs targets that the Makefile has', () => {
    const makefile = read('Makefile')
    const used = targets(read('.ci/run'))
    expect(used).toEqual(['test', 'test-deep', 'test-dbt', 'demo'])
    for (const target of used) expect(makefile).toMatch(new RegExp(`^${target}:`, 'm'))
  })

  it('runs what README says that CI runs', () => {
    const [, workflow, sentence = ''] =
      /\[CI\]\(([^)]*)\) also runs ([^;]*);/.exec(read('README.md')) ?? []
    expect(workflow).toBe('.github/workflows/ci.yml')
    expect(targets(sentence)).toEqual(['test-deep', 'test-dbt'])
    expect(targets(read('.ci/run'))).toEqual(expect.arrayContaining(targets(sentence)))
  })
})

describe('git', () => {
  const KEPT = ['src', 'test', 'sql', 'dbt-like-models', 'docs', 'bench']

  it('ignores no file that is in the folders of the project', () => {
    const list = ['ls-files', '--others', '--ignored', '--exclude-per-directory=.gitignore']
    expect(ask([...list, '--', ...KEPT])).toBe('')
  })

  it('would ignore no file there, whatever its name', () => {
    const tracked = ask(['ls-files', '--', ...KEPT])
      .trim()
      .split('\n')
    const folders = new Set([...KEPT, ...tracked.map((file) => dirname(file))])
    const names = ['coverage', 'dist', 'node_modules', 'results', 'bench-results', 'data', 'target']
    const files = ['run.log', '.DS_Store', 'build', 'logs', 'tmp', 'x.parquet', 'x.duckdb', '.env']
    const made = [...folders].flatMap((folder) =>
      [...names.flatMap((name) => [`${name}/x`, `${name}/x.ts`]), ...files].map(
        (name) => `${folder}/${name}`,
      ),
    )
    expect(made).toContain('test/coverage/coverage/x.ts')
    // What a person ignores on their own machine does not count.
    const check = ['-c', 'core.excludesFile=/dev/null', 'check-ignore', '--no-index', '--stdin']
    expect(ask(check, [...tracked, ...made].join('\n'))).toBe('')
    expect(ask(check, 'node_modules/x\ndist/x\n')).toBe('node_modules/x\ndist/x\n')
  })
})

describe('the pages', () => {
  const docs = ask(['ls-files', '--', 'docs']).trim().split('\n')
  const pages = ['README.md', 'CHANGELOG.md', 'package.json', ...docs]
  const named = /(?<![\w/.-])(?:src|test|sql|docs|bench|dbt-like-models|\.github|\.ci)\/[\w/.-]*\w/g

  it.each(pages)('%s names files that there are', (page) => {
    const paths = [...read(page).matchAll(named)].map(([path]) => path)
    expect(paths.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([])
  })

  it.each(pages.filter((page) => page !== 'docs/api-coverage.md'))(
    '%s names tests that there are',
    (page) => {
      const tests = [...read(page).matchAll(/(test\/[\w/.-]+\.ts): ([^|\n`]+)/g)]
      const missing = tests.filter(
        ([, file = '', title = '']) =>
          !hasTest(join(packageRoot, file), title.trim(), new Set<string>()),
      )
      expect(missing.map(([text]) => text)).toEqual([])
    },
  )
})

function ask(args: readonly string[], input = ''): string {
  return spawnSync('git', args, { cwd: packageRoot, input, encoding: 'utf8' }).stdout
}
