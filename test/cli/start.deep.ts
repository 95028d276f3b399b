import { execFileSync } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import { hookFolders } from '../../src/hooks/record.ts'
import { MAIN } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { namesIn, spooled } from '../hooks/support.ts'

/** Runs the command by the shell, in a folder of its own that `before` may change. */
async function started(before: string, args: readonly string[], main = MAIN, input = '') {
  const folder = join(await temporaryFolder(), 'here')
  await mkdir(folder)
  const script = `${before}; "$@"; echo "exit code $?"`
  const words = [process.execPath, main, ...args]
  return execFileSync('sh', ['-c', script, 'sh', ...words], {
    cwd: folder,
    input,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

const GONE = 'rmdir "$PWD"'
const ERRORS_TOO = 'exec 2>&1'

describe('a command whose working folder was deleted', () => {
  it('prints one line and the next step', async () => {
    const data = await temporaryFolder()
    expect(await started(`${GONE}; ${ERRORS_TOO}`, ['status', '--data', data])).toBe(
      'agent-warehouse: the folder in which the command was started no longer exists\n' +
        '  Start it in another folder.\n' +
        'exit code 2\n',
    )
  })

  it('still records the event of the agent if it is hooks run', async () => {
    const data = await temporaryFolder()
    const event = { hook_event_name: 'Stop', session_id: 'a' }
    const args = ['hooks', 'run', '--data', data]
    expect(await started(`${GONE}; ${ERRORS_TOO}`, args, MAIN, JSON.stringify(event))).toBe(
      'exit code 0\n',
    )
    expect((await spooled(data)).map(({ input }) => input)).toEqual([event])
    expect(await namesIn(hookFolders(data).root)).not.toContain('errors.log')
  })

  it('does not disturb the agent if it is hooks run and the data folder was deleted too', async () => {
    const args = ['hooks', 'run', '--data', 'data']
    expect(await started(`${GONE}; ${ERRORS_TOO}`, args, MAIN, '{}')).toBe('exit code 0\n')
  })
})

/** Opens all files that the process may open, as soon as the command begins. */
const WITHOUT_FILES = `
  import { openSync } from 'node:fs'
  const { umask } = process
  process.umask = (mask) => {
    for (;;) try { openSync('/dev/null') } catch { return umask(mask) }
  }
  await import(${JSON.stringify(MAIN)})
`

describe('a command that cannot be loaded', () => {
  it('names the missing package on one line, with the next step', async () => {
    const copy = await temporaryFolder()
    await cp(join(packageRoot, 'dist'), join(copy, 'dist'), { recursive: true })
    await cp(join(packageRoot, 'package.json'), join(copy, 'package.json'))
    await symlink(join(packageRoot, 'sql'), join(copy, 'sql'))
    const main = join(copy, 'dist', 'cli', 'main.js')
    expect(await started(ERRORS_TOO, ['status'], main)).toMatch(
      /^agent-warehouse: the packages are not complete: Cannot find package .*\n {2}Install them .*npm ci.*\nexit code 1\n$/,
    )
  })

  it('prints one line about too many open files, with the next step', async () => {
    const main = join(await temporaryFolder(), 'main.mjs')
    await writeFile(main, WITHOUT_FILES)
    expect(await started(`ulimit -n 100; ${ERRORS_TOO}`, ['status'], main)).toMatch(
      /^agent-warehouse: too many open files: .*\n {2}.*ulimit -n.*\nexit code 1\n$/,
    )
  })
})
