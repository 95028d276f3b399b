import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { load } from 'js-yaml'
import { z } from 'zod'
import { allowedImports } from '../.dependency-cruiser.mjs'
import { packageRoot } from '../src/lib/package.ts'
import { titlesOf } from './support/titles.ts'

const read = (name: string): string => readFileSync(join(packageRoot, name), 'utf8')

const stepSchema = z.object({
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  run: z.string().optional(),
})

/** Ubuntu has no package of it. */
const CHROMIUM_ALONE = z.strictObject({ CHROMIUM: z.string() })

const workflowSchema = z.object({
  on: z.object({ pull_request: z.object({}), push: z.object({ branches: z.array(z.string()) }) }),
  permissions: z.record(z.string(), z.string()),
  jobs: z.object({
    ci: z.object({
      strategy: z.object({ matrix: z.strictObject({ node: z.array(z.int()) }) }),
      steps: z.array(stepSchema.extend({ env: CHROMIUM_ALONE.optional() }).strict()),
    }),
  }),
})

describe('the table of folders in docs/architecture.md', () => {
  it('names every folder of src and its allowed imports', () => {
    const rows = read('docs/architecture.md').matchAll(/^\| `src\/(\w+)` +\|[^|]*\| *(.*?) *\|$/gm)
    const table = [...rows].map(([, folder, imports = '']) => [
      folder,
      imports === 'all' ? null : [...imports.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    ])
    const rules = Object.entries({ cli: null, ...allowedImports })
    const byName = ([a]: readonly unknown[], [b]: readonly unknown[]): number =>
      String(a).localeCompare(String(b))
    expect(table.sort(byName)).toEqual(rules.sort(byName))
    const folders = readdirSync(join(packageRoot, 'src'), { withFileTypes: true })
    const names = folders.filter((each) => each.isDirectory()).map(({ name }) => name)
    expect(table.map(([name]) => name)).toEqual(names.sort())
  })
})

describe('the steps of a page and of a build in docs/architecture.md', () => {
  const [, page = '', build = ''] = read('docs/architecture.md').split(/^## .*, step by step$/m)
  const [steps = ''] = build.split(/^## /m)
  const named = [...`${page}${steps}`.matchAll(/^(\d+)\. `([^`]+)`(?: \(([^)]*)\))?: (.*)$/gm)]
  const namesIn = (text = ''): string[] =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const tracked = readdirSync(packageRoot, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^(?:src|sql|dbt-like-models)\//.test(name),
  )

  it('are at most eight files each', () => {
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8].map(String)
    expect(named.map(([, number]) => number)).toEqual([...numbers, ...numbers])
  })

  it.each(named.map(([, , file = '', functions, text]) => [file, functions, text] as const))(
    '%s exists, with the functions and the other files that its step names',
    (file, functions, text) => {
      const source = read(file)
      const isThere = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(source)
      expect(namesIn(functions).filter((name) => !isThere(name))).toEqual([])
      const files = namesIn(text).filter((name) => /\.(?:ts|sql)$/.test(name))
      const isTracked = (name: string): boolean =>
        tracked.some((each) => `/${each}`.endsWith(`/${name}`))
      expect(files.filter((name) => !isTracked(name))).toEqual([])
    },
  )
})

describe('the laws of docs/architecture.md', () => {
  const [, list = ''] = read('docs/architecture.md').split('\n## Laws\n')
  const [laws = ''] = list.split('\n## ')
  const numbers = [...laws.matchAll(/^(\d+)\. \*\*/gm)].map(([, number]) => Number(number))
  const titles = readdirSync(join(packageRoot, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') || name.endsWith('.deep.ts'))
    .flatMap((name) => titlesOf(join(packageRoot, 'test', name)))
  const held = titles.flatMap(({ source }) => {
    const [, all = ''] = /\blaws? (\d+(?: and \d+)*)/.exec(source) ?? []
    return all === '' ? [] : all.split(' and ').map(Number)
  })

  it('are thirteen', () => {
    expect(numbers).toEqual(Array.from({ length: 13 }, (_, index) => index + 1))
  })

  it.each(numbers)('have number %i in the title of a test', (number) => {
    expect(held).toContain(number)
  })
})

describe('the words that docs/glossary.md forbids', () => {
  const [, table = ''] = read('docs/glossary.md').split('## Words that the code does not use')
  const words = [...table.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word),
  )
  const folder = join(packageRoot, 'src')
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

  it('are listed', () => {
    expect(words.length).toBeGreaterThan(10)
  })

  it.each(words)('are in no name, comment or message of src: %s', (word) => {
    const alone = new RegExp(`(?<![a-z])${word}(?![a-z])|${capital(word)}(?![a-z])`)
    const found = texts.filter(({ text }) => alone.test(text.replaceAll('learntAt', '')))
    expect(found.map(({ name }) => name)).toEqual([])
  })

  function capital(word: string): string {
    return `${word.charAt(0).toUpperCase()}${word.slice(1)}`
  }
})

describe('the statements in sql/', () => {
  it('exist for every name that src uses', () => {
    const folder = join(packageRoot, 'src')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const names = files
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [
        ...readFileSync(join(folder, name), 'utf8').matchAll(/\bstatement\('([^']+)'\)/g),
      ])
    expect(names.length).toBeGreaterThan(50)
    const missing = names.filter(([, name]) => !existsSync(join(packageRoot, `sql/${name}.sql`)))
    expect(missing.map(([, name]) => name)).toEqual([])
  })
})

describe('the workflow for contributions', () => {
  const workflow = workflowSchema.parse(load(read('.github/workflows/ci.yml')))
  const { steps, strategy } = workflow.jobs.ci

  it('runs exactly what .ci/run runs, for each change and on main', () => {
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
})

describe('every workflow', () => {
  const FOLDER = '.github/workflows'
  const names = readdirSync(join(packageRoot, FOLDER))
  const schema = z.object({
    permissions: z.record(z.string(), z.string()),
    jobs: z.record(z.string(), z.object({ steps: z.array(stepSchema) })),
  })
  const stepsOf = (name: string): z.infer<typeof stepSchema>[] =>
    Object.values(schema.parse(load(read(`${FOLDER}/${name}`))).jobs).flatMap(({ steps }) => steps)

  it('is checked here, including new ones', () => {
    expect(names).toEqual(expect.arrayContaining(['ci.yml', 'nightly.yml']))
  })

  it.each(names)('pins each action by its commit, with its version: %s', (name) => {
    const lines = read(`${FOLDER}/${name}`)
      .split('\n')
      .filter((line) => /\buses["']?\s*:/.test(line))
    expect(lines).toHaveLength(stepsOf(name).filter(({ uses }) => uses !== undefined).length)
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(line).toMatch(/uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it.each(names)(
    'has read permission only, and its steps get no credential or foreign text: %s',
    (name) => {
      const { permissions } = schema.parse(load(read(`${FOLDER}/${name}`)))
      expect(permissions).toHaveProperty('contents')
      expect(new Set(Object.values(permissions))).toEqual(new Set(['read']))
      for (const { uses, run, with: inputs } of stepsOf(name)) {
        expect(run ?? '').not.toContain('${{')
        if (uses?.startsWith('actions/checkout@') !== true) continue
        expect(inputs).toMatchObject({ 'persist-credentials': false })
      }
    },
  )
})

describe('.ci/run', () => {
  const targets = (text: string): string[] =>
    [...text.matchAll(/\bmake ([a-z -]+)/g)].flatMap(([, list = '']) => list.trim().split(' '))

  it('runs targets of the Makefile', () => {
    const makefile = read('Makefile')
    const used = targets(read('.ci/run'))
    expect(used).toEqual(['test', 'test-all', 'bench-short', 'demo'])
    for (const target of used) expect(makefile).toMatch(new RegExp(`^${target}:`, 'm'))
  })

  it('runs what CONTRIBUTING.md says', () => {
    const [, workflow, sentence = ''] =
      /\[CI\]\(([^)]*)\) runs ([^;]*);/.exec(read('CONTRIBUTING.md')) ?? []
    expect(workflow).toBe('.github/workflows/ci.yml')
    expect(targets(sentence)).toEqual(['test-all', 'bench-short', 'demo'])
    expect(targets(read('.ci/run'))).toEqual(expect.arrayContaining(targets(sentence)))
  })
})

describe('the Makefile', () => {
  it('uses no option that make 3.81, which macOS has, does not know', () => {
    expect(read('Makefile')).not.toMatch(/--output-sync|--trace|--shuffle/)
  })
})

describe('make demo', () => {
  it('announces the installation and the compilation', () => {
    const { stdout } = spawnSync('make', ['--dry-run', '--always-make', 'demo'], {
      cwd: packageRoot,
      encoding: 'utf8',
    })
    const lines = stdout.split('\n')
    const before = (command: string): string | undefined =>
      lines[lines.findIndex((line) => line.startsWith(command)) - 1]
    expect(before('npm ci')).toMatch(/^echo 'Installing/)
    expect(before('npm run --silent build')).toMatch(/^echo 'Compiling/)
  })
})

describe('git', () => {
  const KEPT = ['src', 'test', 'sql', 'spark', 'dbt-like-models', 'docs', 'bench']

  it('ignores no file in the folders of the project', () => {
    const list = ['ls-files', '--others', '--ignored', '--exclude-per-directory=.gitignore']
    expect(ask([...list, '--', ...KEPT])).toBe('')
  })

  it('ignores no file name in the folders of the project', () => {
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
  const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'package.json', ...docs]
  const named = /(?<![\w/.-])(?:src|test|sql|docs|bench|dbt-like-models|\.github|\.ci)\/[\w/.-]*\w/g

  it.each(pages)('%s names files that exist', (page) => {
    const paths = [...read(page).matchAll(named)].map(([path]) => path)
    expect(paths.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([])
  })

  it('the first screen of README has one picture of less than 300 kB', () => {
    const [first = ''] = read('README.md').split('\n## Load your own data')
    const pictures = [...first.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path = '']) => path)
    expect(pictures).toEqual(['assets/report.png'])
    for (const path of pictures) {
      const bytes = readFileSync(join(packageRoot, path))
      expect(bytes.subarray(1, 4).toString()).toBe('PNG')
      expect(bytes.length).toBeLessThan(300_000)
    }
  })
})

function ask(args: readonly string[], input = ''): string {
  return spawnSync('git', args, { cwd: packageRoot, input, encoding: 'utf8' }).stdout
}
