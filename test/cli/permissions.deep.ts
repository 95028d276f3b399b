import { chmod, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runHook } from '../hooks/support.ts'
import { command, MAIN } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { NOW } from './command-stage.ts'
import { execute } from './published-stage.ts'
import { standIn } from '../support/stand-in.ts'

async function stage(): Promise<{ data: string; environment: Record<string, string> }> {
  const emulator = await standIn({ users: 3, now: () => NOW })
  const data = join(await temporaryFolder(), 'data')
  return {
    data,
    environment: {
      AGENT_BASE_URL: emulator.url,
      AGENT_API_KEY: emulator.keys.manager,
      AGENT_WAREHOUSE_DATA: data,
    },
  }
}

const DAY = ['--only', 'activity,enterprise_controls', '--from', '2026-02-02']
const SYNC = ['sync', ...DAY]

/** A configuration file next to the data folder. */
async function configured(data: string, text: string): Promise<string[]> {
  const path = join(data, '..', 'a.yaml')
  await writeFile(path, text, { mode: 0o600 })
  return ['--config', path]
}

/** Files and folders, the data folder included, whose mode has bits of the mask. */
async function wider(data: string, mask: number): Promise<string[]> {
  const entries = await readdir(data, { recursive: true })
  const modes = await Promise.all(
    ['', ...entries].map(
      async (name) => [name, (await lstat(join(data, name))).mode & 0o777] as const,
    ),
  )
  return modes
    .filter(([, mode]) => (mode & mask) !== 0)
    .map(([name, mode]) => `${name} ${mode.toString(8)}`)
}

async function expectOpenToGroup(data: string): Promise<void> {
  expect(await wider(data, 0o027)).toEqual([])
  expect((await lstat(join(data, 'runs'))).mode & 0o777).toBe(0o750)
  expect((await lstat(join(data, 'state', 'redaction.key'))).mode & 0o777).toBe(0o600)
}

describe('permissions', () => {
  test('a run creates files for their owner alone, whatever the umask of the process', async () => {
    const { data, environment } = await stage()
    const before = process.umask(0o000)
    onTestFinished(() => void process.umask(before))
    const run = ['run', ...DAY, ...(await configured(data, 'exports: [csv]\n'))]
    expect((await command(run, environment)).code).toBe(0)
    expect((await readdir(data)).sort()).toEqual(
      expect.arrayContaining(['exports', 'lake', 'runs', 'state', 'target', 'warehouse.duckdb']),
    )
    expect(await wider(data, 0o077)).toEqual([])
  })

  test('AGENT_WAREHOUSE_UMASK opens files to the group, but not the redaction key, whatever the setting umask', async () => {
    const { data, environment } = await stage()
    const sync = [...SYNC, ...(await configured(data, 'umask: 077\n'))]
    expect((await command(sync, { ...environment, AGENT_WAREHOUSE_UMASK: '027' })).code).toBe(0)
    await expectOpenToGroup(data)
  })

  test.each(['027', '"027"', '27'])(
    'the setting umask opens files to the group, but not the redaction key: %s',
    async (mask) => {
      const { data, environment } = await stage()
      const sync = [...SYNC, ...(await configured(data, `umask: ${mask}\n`))]
      expect((await command(sync, environment)).code).toBe(0)
      await expectOpenToGroup(data)
    },
  )

  test.each(['022', '0o27', '0', 'abc'])(
    'a umask setting that is invalid or lets other users in is refused: %s',
    async (mask) => {
      const { data, environment } = await stage()
      const sync = [...SYNC, ...(await configured(data, `umask: ${mask}\n`))]
      const { code, err } = await execute(sync, environment)
      expect(code).toBe(2)
      expect(err).toMatch(/a\.yaml umask: '.*' is not a mask/)
      await expect(readdir(data)).rejects.toThrow('ENOENT')
    },
  )

  test.each(['022', '0', 'abc', '777', '-27'])(
    'an AGENT_WAREHOUSE_UMASK that is invalid or lets other users in is refused: %s',
    async (mask) => {
      const { data, environment } = await stage()
      const { code, err } = await command(SYNC, { ...environment, AGENT_WAREHOUSE_UMASK: mask })
      expect(code).toBe(2)
      expect(err).toContain(`AGENT_WAREHOUSE_UMASK: '${mask}'`)
      await expect(readdir(data)).rejects.toThrow('ENOENT')
    },
  )

  test('doctor reports files that other users can open, and the command that closes them', async () => {
    const { data, environment } = await stage()
    const doctor = (args: readonly string[] = [], variables = {}) =>
      execute(['doctor', ...args], { ...environment, ...variables })
    await command(SYNC, environment)
    expect((await doctor()).out).toMatch(/^ok +permissions /m)
    await mkdir(join(data, 'seeds'), { mode: 0o755 })
    await writeFile(join(data, 'seeds', 'teams.csv'), 'org_id,user,team,valid_from\n', {
      mode: 0o644,
    })
    expect((await doctor()).out).toMatch(/^ok +permissions /m)
    await chmod(join(data, 'state'), 0o755)
    await chmod(join(data, 'state', 'redaction.key'), 0o640)
    const { code, out } = await doctor()
    expect(code).toBe(0)
    expect(out).toMatch(
      /^warning +permissions +.*state \(755\), state\/redaction\.key \(640\)\. To fix this: chmod -R g-rwx,o-rwx /m,
    )
    const [, fix = ''] = /To fix this: (chmod .*?')\./.exec(out) ?? []
    await promisify(execFile)('sh', ['-c', fix])
    expect(await wider(data, 0o077)).toEqual([])
    const open = [
      await doctor([], { AGENT_WAREHOUSE_UMASK: '027' }),
      await doctor(await configured(data, 'umask: 027\n')),
    ]
    for (const { out } of open) expect(out).toMatch(/^ok +permissions +only its owner and group/m)
  })

  test('doctor counts them, however many there are', async () => {
    const data = await temporaryFolder()
    await mkdir(join(data, 'lake'))
    // as many with less memory for calls fail as five times as many without
    const names = Array.from({ length: 30_000 }, (_, at) => join(data, 'lake', `file ${at}`))
    for (const name of names) writeFileSync(name, '', { mode: 0o644 })
    const args = ['--stack-size=250', MAIN, 'doctor']
    const { stdout } = spawnSync(process.execPath, args, {
      env: { AGENT_WAREHOUSE_DATA: data },
      encoding: 'utf8',
    })
    expect(stdout).toMatch(/^warning +permissions .* and 2999\d more/m)
  })

  test('the data folder in a git repository ignores all but its seeds, and keeps a changed .gitignore', async () => {
    const { data, environment } = await stage()
    await command(SYNC, environment)
    await mkdir(join(data, 'seeds', 'more'), { recursive: true })
    await writeFile(join(data, 'seeds', 'teams.csv'), 'x')
    await writeFile(join(data, 'seeds', 'more', 'x.csv'), 'x')
    const git = (...args: string[]) => promisify(execFile)('git', ['-C', join(data, '..'), ...args])
    await git('init', '-q')
    const { stdout } = await git('status', '--porcelain', '--untracked-files=all')
    expect(stdout.trim().split('\n').sort()).toEqual([
      '?? data/.gitignore',
      '?? data/seeds/more/x.csv',
      '?? data/seeds/teams.csv',
    ])
    await writeFile(join(data, '.gitignore'), '# mine\n')
    await command(SYNC, environment)
    expect(await readFile(join(data, '.gitignore'), 'utf8')).toBe('# mine\n')
  })

  test('a hook event is recorded for its owner alone, in a data folder with a .gitignore', async () => {
    const { data } = await stage()
    const before = process.umask(0o000)
    onTestFinished(() => void process.umask(before))
    expect((await runHook('{"hook_event_name": "Stop"}', { data })).code).toBe(0)
    expect(await wider(data, 0o077)).toEqual([])
    expect(await readdir(data)).toContain('.gitignore')
  })
})
