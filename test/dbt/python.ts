import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPython, pythonOf } from '../../bench/python.mjs'
import { packageRoot } from '../../src/lib/package.ts'

/** Lists of packages, each installed in an environment of its own. */
export const ENVIRONMENTS = ['requirements.txt', 'oldest.txt'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

const listOf = (list: Environment): string => join(packageRoot, 'test', 'dbt', list)

/** Installs missing packages. @throws when there is no Python, or a package is not available. */
export function install(list: Environment): void {
  installPython(listOf(list))
}

/** Runs a module of an environment and returns its output; an error contains the output, too. */
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
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    throw new Error(`${args.join(' ')} failed:\n${output}`, { cause: error })
  }
}
