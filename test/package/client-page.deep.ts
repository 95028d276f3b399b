import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { temporaryFolder } from '../support/helpers.ts'

interface Example {
  readonly code: string
  /** What it prints; undefined for the first, which the others go on from. */
  readonly prints: string | undefined
}

const run = promisify(execFile)

describe('the examples of docs/client.md', () => {
  it('print what the page shows, with the package imported by its name', async () => {
    const [setup, ...examples] = await examplesOf('docs/client.md')
    expect(examples.length).toBeGreaterThan(8)
    const printed = await runAll(setup?.code ?? '', examples)
    expect(printed).toEqual(examples.map(({ prints }) => prints))
  })

  it('compile against the declarations of the package', async () => {
    const [setup, ...examples] = await examplesOf('docs/client.md')
    const folder = await folderWithPackage()
    const file = join(folder, 'examples.mts')
    await writeFile(file, scriptOf(setup?.code ?? '', examples))
    const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc')
    // as `npm pack` does
    await run(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: packageRoot })
    const types = join(packageRoot, 'node_modules/@types')
    const options = '--noEmit --strict --target es2023 --module nodenext --types node'.split(' ')
    const { stdout } = await run(process.execPath, [tsc, ...options, '--typeRoots', types, file], {
      cwd: folder,
    }).catch((error: unknown) => ({ stdout: JSON.stringify(error) }))
    expect(stdout).toBe('')
  })
})

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
