import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCommandLine, registeredIn } from '../../src/hooks/settings.ts'
import { command, type Outcome } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { runHook, spooled } from './support.ts'

const SETTINGS = '{\n    "model": "m", // no\n}'.replace(', // no', '')

async function place(): Promise<{
  home: string
  file: string
  hooks: (...args: string[]) => Promise<Outcome>
}> {
  const home = await temporaryFolder()
  await mkdir(join(home, '.agent'))
  const hooks = (...args: string[]): Promise<Outcome> =>
    command(['hooks', ...args], { HOME: home }, home)
  return { home, file: join(home, '.agent', 'settings.json'), hooks }
}

const read = (path: string): Promise<string> => readFile(path, 'utf8')

describe('hooks install', () => {
  it('registers commands that the agent can run and lists them, and uninstall removes them', async () => {
    const { home, file, hooks } = await place()
    await writeFile(file, SETTINGS)
    const { code, out } = await hooks('install')
    expect(code).toBe(0)
    expect(out).toContain(`settings  ${file} (of the user; by default ~/.agent`)
    expect(out).toMatch(
      /Notification\s+added\nStop\s+added\nSubagentStop\s+added\nSessionEnd\s+added/,
    )
    const registered = registeredIn(await read(file))
    expect(registered.map(({ event }) => event)).toEqual([
      'Notification',
      'Stop',
      'SubagentStop',
      'SessionEnd',
    ])
    const line = readCommandLine(registered[0]?.command ?? '')
    expect(line).toMatchObject({ node: process.execPath, dataFolder: join(home, 'data') })
    expect(line?.config).toBe(join(home, 'agent-warehouse.yaml'))
    await runHook('{"hook_event_name":"Stop"}', { data: line?.dataFolder ?? '' })
    expect(await spooled(join(home, 'data'))).toHaveLength(1)

    expect((await hooks('install')).out).toMatch(/unchanged[\s\S]*not changed\n$/)
    expect((await hooks('uninstall')).out).toContain('removed')
    expect(await read(file)).toBe(SETTINGS)
    expect((await hooks('uninstall')).out).toContain('nothing is registered')
  })

  it('creates the settings file when there is none', async () => {
    const { home, hooks } = await place()
    const path = join(home, 'new', 'folder', 'settings.json')
    expect(
      await hooks('install', '--config-dir', 'new/folder', '--events', 'PostToolUse'),
    ).toMatchObject({ code: 0 })
    expect(registeredIn(await read(path)).map(({ event }) => event)).toEqual(['PostToolUse'])
    expect(await hooks('uninstall', '--settings', path)).toMatchObject({ code: 0 })
    expect(await read(path)).toBe('{}\n')
  })

  it.each<[string, string[], Record<string, string>, string]>([
    ['the project', ['--project'], { AGENT_CONFIG_DIR: 'user' }, '.agent/settings.json'],
    ['AGENT_CONFIG_DIR', [], { AGENT_CONFIG_DIR: 'user' }, 'user/settings.json'],
    ['--config-dir', ['--config-dir', 'c'], { AGENT_CONFIG_DIR: 'user' }, 'c/settings.json'],
    ['--settings', ['--settings', 'x.json'], { AGENT_CONFIG_DIR: 'user' }, 'x.json'],
  ])('uses the settings file that %s names', async (_, args, environment, expected) => {
    const { home } = await place()
    const all = ['hooks', 'install', '--json', '--dry-run', ...args]
    const { out } = await command(all, { HOME: '/nowhere', ...environment }, home)
    expect(JSON.parse(out)).toMatchObject({ settings: join(home, expected), changed: false })
  })

  it('uses the home folder of the account where HOME is empty', async () => {
    const { home } = await place()
    const { out } = await command(['hooks', 'status', '--json'], { HOME: '' }, home)
    expect(JSON.parse(out)).toMatchObject({
      settings: join(userInfo().homedir, '.agent/settings.json'),
    })
  })

  it('shows the diff with --dry-run, and changes nothing', async () => {
    const { home, file, hooks } = await place()
    await writeFile(file, SETTINGS)
    const { out } = await hooks('install', '--dry-run', '--events', 'Stop')
    expect(out).toContain('-     "model": "m"\n+     "model": "m",\n+     "hooks": {')
    expect(out).toContain('not changed: --dry-run')
    expect(await read(file)).toBe(SETTINGS)
    expect(await readdir(home)).toEqual(['.agent'])
  })

  it('keeps a symbolic link, the permissions, and the last five backups', async () => {
    const { home, file, hooks } = await place()
    const real = join(home, 'dotfiles.json')
    await writeFile(real, SETTINGS)
    await chmod(real, 0o600)
    await symlink(real, file)
    for (let time = 0; time < 4; time += 1) {
      await hooks('install')
      await hooks('uninstall')
    }
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    expect((await stat(real)).mode & 0o777).toBe(0o600)
    expect(await read(real)).toBe(SETTINGS)
    const copies = (await readdir(home)).filter((name) => name.endsWith('.bak'))
    expect(copies).toHaveLength(5)
    for (const copy of copies) expect((await stat(join(home, copy))).mode & 0o777).toBe(0o600)
  })

  it.skipIf(process.getuid?.() !== 0)('by root keeps the owner of the settings file', async () => {
    const { home, file, hooks } = await place()
    await writeFile(file, SETTINGS)
    await chown(file, 1234, 4321)
    await hooks('install')
    const names = await readdir(join(home, '.agent'))
    expect(names).toHaveLength(2)
    for (const name of names) {
      expect(await stat(join(home, '.agent', name))).toMatchObject({ uid: 1234, gid: 4321 })
    }
  })

  it('refuses a folder in the place of the settings file, and names the file in it', async () => {
    const { home, hooks } = await place()
    const folder = join(home, '.agent')
    const { code, err } = await hooks('install', '--settings', folder)
    expect(code).toBe(2)
    expect(err).toContain(`${folder} is a folder, but must be the settings file`)
    expect(err).toContain(`--settings ${join(folder, 'settings.json')}`)
  })

  it('refuses a link to nothing, and keeps it', async () => {
    const { home, file, hooks } = await place()
    await symlink(join(home, 'gone.json'), file)
    const { code, err } = await hooks('install')
    expect(code).toBe(2)
    expect(err).toContain(`${file} is a link to a file that does not exist`)
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    expect(await readdir(home)).toEqual(['.agent'])
  })

  it.each([
    ['{"hooks": {}\n  "a": 1}', '2:3: '],
    ['', '1:1: value expected'],
    ['{"hooks": 7}', "1:11: 'hooks' is not an object"],
  ])(
    'refuses broken settings %j with line and column, and changes nothing',
    async (text, message) => {
      const { home, file, hooks } = await place()
      await writeFile(file, text)
      for (const what of ['install', 'uninstall']) {
        const { code, err } = await hooks(what)
        if (what === 'uninstall' && message.includes('not an object')) continue
        expect(code).toBe(2)
        expect(err.split('\n')[0]).toContain(`${file}:${message}`)
      }
      expect(await read(file)).toBe(text)
      expect(await readdir(join(home, '.agent'))).toEqual(['settings.json'])
    },
  )

  it.each<[string[], string]>([
    [['--events', 'Stop,Stopp'], "--events: there is no event 'Stopp'"],
    [['--events', ','], '--events: no event is named'],
    [['--user', '--project'], 'mutually exclusive'],
    [['--settings', 'a', '--project'], 'mutually exclusive'],
    [['--config', 'gone.yaml'], 'there is no file'],
    [['--config-dir', '~/.agent'], "has '~' in its path"],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await (await place()).hooks('install', ...args)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  it('reports a broken configuration, because the agent would not', async () => {
    const { home, hooks } = await place()
    await writeFile(
      join(home, 'agent-warehouse.yaml'),
      'hooks: { rules: [{ events: [Stop], channels: [desk] }] }',
    )
    const { code, err } = await hooks('install')
    expect(code).toBe(2)
    expect(err).toContain("hooks.rules.0.channels.0: there is no channel 'desk'; known: none")
  })
})

it.each(['nowhere', 'constructor', '__proto__'])(
  'hooks test refuses %s, a channel that is not configured',
  async (name) => {
    const { code, err } = await (await place()).hooks('test', name)
    expect(code).toBe(2)
    expect(err).toContain(`there is no channel '${name}'\n`)
  },
)
