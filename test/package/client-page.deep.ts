import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { temporaryFolder } from '../support/helpers.ts'

interface Example {
  readonly code: string
  /** What it prints; undefined for the first, which the others go on from. */
  readonly prints: string | undefined
}

const run = promisify(execFile)

beforeAll(declare)

describe('the examples of docs/client.md', () => {
  it('print what the page shows, with the package imported by its name', async () => {
    const [setup, ...examples] = await examplesOf('docs/client.md')
    expect(examples.length).toBeGreaterThan(8)
    const printed = await runAll(setup?.code ?? '', examples)
    expect(printed).toEqual(examples.map(({ prints }) => prints))
  })

  it('compile against the declarations of the package', async () => {
    const [setup, ...examples] = await examplesOf('docs/client.md')
    expect(await compile(['examples.mts'], scriptOf(setup?.code ?? '', examples))).toBe('')
  })
})

describe('a project that uses the client', () => {
  it.each([
    ['an ES module and CommonJS', ['program.mts', 'program.cts'], []],
    ['input of a bundler', ['program.ts'], ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ])('compiles with every check of TypeScript as %s', async (_, names, options) => {
    expect(await compile(names, PROGRAM, [...CHECKS, ...options])).toBe('')
  })

  it('can require the package, has the same classes then, and loads no DuckDB', async () => {
    const file = join(await folderWithPackage(), 'script.cjs')
    await writeFile(file, SCRIPT)
    const { stdout } = await run(process.execPath, [file])
    expect(stdout).toBe('true []\n')
  })
})

const CHECKS = [
  ...['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
  ...['--noPropertyAccessFromIndexSignature', '--skipLibCheck', 'false'],
]

/** What is not possible with declarations that are too narrow. */
const PROGRAM = `
import { parseDay, PlatformClient, type ResponseMetadata, type Learned, type RowHandler } from 'agent-warehouse'

export async function use(learned?: Learned, startAfter?: string, limit?: number): Promise<void> {
  const client = new PlatformClient({ baseUrl: '', credential: '', learned })
  await client.readiness.page({ limit, startAfter })
  await client.controls.page({ limit })

  const range = { first: parseDay('2026-03-18', 'first'), last: parseDay('2026-03-19', 'last') }
  const { rows } = await client.ask('tokens', { range, limit })
  const texts = rows.map(({ text }) => text)
  const handler: RowHandler = {
    begin: () => texts.splice(0),
    isWanted: (text) => text !== '',
    row: ({ text }) => texts.push(text),
  }
  const answer: ResponseMetadata = await client.stream('tokens', { range }, handler)

  const [day] = await client.tools({ startDate: '2026-03-18', endDate: '2026-03-19' })
  const share: number | undefined = day?.tool_autonomy_level_ratio?.auto_high
  const added: unknown = day?.by_tool?.[0]?.['added']
  const { sessionSettings } = await client.sessions.get('id')
  const metadata: unknown = sessionSettings?.tags?.[0]?.metadata?.['owner']
  await client.sessions.update('id', { tags: sessionSettings?.tags ?? [] })
  const { tokenUsage, inclusiveTokenUsage, ...settings } = sessionSettings ?? {}
  await client.sessions.update('id', settings)
  // @ts-expect-error the platform refuses token usage
  await client.sessions.update('id', sessionSettings ?? {})
  console.log(answer.orgId, share, added, metadata, tokenUsage, inclusiveTokenUsage)
}
`

const SCRIPT = `
const { ApiError } = require('agent-warehouse')
import('agent-warehouse').then((module) => {
  const { sharedObjects } = process.report.getReport()
  console.log(module.ApiError === ApiError, sharedObjects.filter((path) => /duckdb/i.test(path)))
})
`

const TSC = join(packageRoot, 'node_modules/typescript/bin/tsc')

/** Writes the declarations, as \`npm pack\` does. */
async function declare(): Promise<void> {
  await run(process.execPath, [TSC, '-p', 'tsconfig.build.json'], { cwd: packageRoot })
}

/** Compiles a text, under each name, in a project that has the package, and returns the errors. */
async function compile(
  names: readonly string[],
  text: string,
  more: readonly string[] = [],
): Promise<string> {
  const folder = await folderWithPackage()
  for (const name of names) await writeFile(join(folder, name), text)
  const types = ['--types', 'node', '--typeRoots', join(packageRoot, 'node_modules/@types')]
  const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext']
  const { stdout } = await run(process.execPath, [TSC, ...options, ...types, ...more, ...names], {
    cwd: folder,
  }).catch((error: unknown) => ({ stdout: JSON.stringify(error) }))
  return stdout
}

async function examplesOf(page: string): Promise<Example[]> {
  const text = await readFile(join(packageRoot, page), 'utf8')
  const blocks = text.matchAll(/```js\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)
  return [...blocks].map(([, code, prints]) => ({ code: code ?? '', prints }))
}

/** One script, each example in a scope of its own, ended by `close` alone. */
function scriptOf(setup: string, examples: readonly Example[]): string {
  const scopes = examples.map(({ code }) => `{\n${code}\n}\nconsole.log('${MARK}')`)
  return [setup, ...scopes, 'await client.close()'].join('\n')
}

const MARK = '--- the end of an example ---'

async function runAll(setup: string, examples: readonly Example[]): Promise<string[]> {
  const emulator = await startEmulator({ now: () => Date.parse('2026-03-20T12:00:00Z') })
  try {
    const file = join(await folderWithPackage(), 'examples.mjs')
    await writeFile(file, scriptOf(setup, examples))
    const env = {
      PATH: process.env['PATH'],
      AGENT_BASE_URL: emulator.url,
      AGENT_APP_URL: emulator.appUrl,
      AGENT_API_KEY: emulator.keys.manager,
    }
    const { stdout } = await run(process.execPath, [file], { env })
    return stdout.split(`${MARK}\n`).slice(0, -1)
  } finally {
    await emulator.close()
  }
}

/** A folder whose scripts find the built package under its name. */
async function folderWithPackage(): Promise<string> {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'node_modules'))
  await symlink(packageRoot, join(folder, 'node_modules', 'agent-warehouse'), 'junction')
  return folder
}
