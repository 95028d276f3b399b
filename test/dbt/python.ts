import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../src/store/root.ts'

/** What is installed, each in an environment of its own. */
export const ENVIRONMENTS = ['requirements.txt', 'oldest.txt'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

const CACHE = join(tmpdir(), 'agent-warehouse-python')

/** Where the packages of a list are, outside the checkout; another list is another folder. */
export function binOf(list: Environment): string {
  const content = readFileSync(join(packageRoot, 'test', 'dbt', list))
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 12)
  return join(CACHE, digest, 'bin')
}

/** Installs what is not there yet. @throws where there is no Python, or a package cannot be had. */
export function install(list: Environment): void {
  const folder = join(binOf(list), '..')
  if (existsSync(folder)) return
  const aside = `${folder}.${process.pid}`
  const show = { stdio: 'inherit' } as const
  mkdirSync(CACHE, { recursive: true })
  try {
    execFileSync('python3', ['-m', 'venv', aside], show)
    const requirements = join(packageRoot, 'test', 'dbt', list)
    const pip = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--no-deps']
    const packages = ['--only-binary', ':all:', '-r', requirements]
    execFileSync(join(aside, 'bin', 'python'), [...pip, ...packages], show)
    renameSync(aside, folder)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

/** Runs a module of an environment, and returns what it printed; fails with all that it said. */
export async function python(
  list: Environment,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const run = promisify(execFile)
  try {
    const { stdout } = await run(join(binOf(list), 'python'), [...args], {
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      maxBuffer: 64 * 1024 * 1024,
    })
    return stdout
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    throw new Error(`${args.join(' ')} failed:\n${said}`, { cause: error })
  }
}
