// Environments of Python, one for each list of packages, made outside the checkout.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const CACHE = join(tmpdir(), 'agent-warehouse-python')
const PIP = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check']
const WHEELS = ['--no-deps', '--only-binary', ':all:']

export function pythonOf(list) {
  const digest = createHash('sha256').update(readFileSync(list)).digest('hex').slice(0, 12)
  return join(CACHE, digest, 'bin', 'python')
}

export function installPython(list) {
  const folder = dirname(dirname(pythonOf(list)))
  if (existsSync(folder)) return
  const aside = `${folder}.${process.pid}`
  const show = { stdio: 'inherit' }
  mkdirSync(CACHE, { recursive: true })
  try {
    execFileSync('python3', ['-m', 'venv', aside], show)
    execFileSync(join(aside, 'bin', 'python'), [...PIP, ...WHEELS, '-r', list], show)
    renameSync(aside, folder)
  } catch (cause) {
    const needs = `python3 with venv, and the packages of ${list} from the registry of pip`
    throw new Error(`this needs ${needs}: ${cause.message}`, { cause })
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}
