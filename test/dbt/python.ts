import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPython, pythonOf } from '../../bench/python.mjs'
import { packageRoot } from '../../src/lib/package.ts'

/** What is installed, each in an environment of its own. */
export const ENVIRONMENTS = ['requirements.txt', 'oldest.txt'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

const listOf = (list: Environment): string => join(packageRoot, 'test', 'dbt', list)

/** Installs what is not there yet. @throws where there is no Python, or a package cannot be had. */
export function install(list: Environment): void {
  installPython(listOf(list))
}

/** Runs a module of an environment, and returns what it printed; fails with all that it said. */
export async function python(
  list: Environment,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const run = promisify(execFile)
  try {
    const { stdout } = await run(pythonOf(listOf(list)), [...args], {
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      maxBuffer: 64 * 1024 * 1024,
    })
    return stdout
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    throw new Error(`${args.join(' ')} failed:\n${said}`, { cause: error })
  }
}
