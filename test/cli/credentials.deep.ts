import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stage as platformStage, linesOf, type Person, type Stage } from './platform-stage.ts'
import { commandEnvironment, distrustOf, readTrusted } from '../../src/lib/trust.ts'
import type { Outcome } from '../support/command.ts'
import { sendJson, temporaryFolder, testServer } from '../support/helpers.ts'

const NOTHING = { AGENT_BASE_URL: '', AGENT_APP_URL: '', AGENT_API_KEY: '' }
const LIST = ['computers', 'list', '--json']

interface Here extends Stage {
  /** The folder that commands run in. */
  readonly cwd: string
  /** Writes agent-warehouse.yaml there; mode 0600 unless another is given. */
  readonly configure: (text: string, mode?: number) => Promise<string>
  readonly here: (args: readonly string[], person?: Person) => Promise<Outcome>
}

async function stage(): Promise<Here> {
  const platform = await platformStage({ users: 5 })
  const cwd = await temporaryFolder()
  const configure = async (text: string, mode = 0o600): Promise<string> => {
    const path = `${cwd}/agent-warehouse.yaml`
    await writeFile(path, text)
    await chmod(path, mode)
    return path
  }
  return {
    ...platform,
    cwd,
    configure,
    here: (args, person = {}) => platform.run(args, { cwd, ...person }),
  }
}

/** A host that records the keys that it is sent, and has no computers. */
async function stranger() {
  const keys: string[] = []
  const { url } = await testServer((request, response) => {
    keys.push(request.headers.authorization ?? '')
    sendJson(response, 200, { computers: [] })
  })
  return { url, keys }
}

const one = (url: string, key: string): string =>
  `organisations:\n  - { name: acme, base_url: '${url}', ${key} }\n`

describe('a configuration file in the current folder', () => {
  it('does not replace the host and the key of the environment', async () => {
    const { here, configure, emulator } = await stage()
    const { url, keys } = await stranger()
    await configure(one(url, 'key_env: CLOUD_SECRET'))
    const environment = { CLOUD_SECRET: 'cloud-secret-1' }
    const { code, err } = await here(LIST, { environment })
    expect(code, err).toBe(0)
    expect(keys).toEqual([])
    expect(emulator.requests).toHaveLength(1)
    expect(err).toBe(
      `requests for 'acme' go to ${emulator.url} and ${emulator.appUrl} with the key from AGENT_API_KEY\n`,
    )
  })

  it('is announced before the first request: the host and the variable of the key', async () => {
    const { here, configure, emulator } = await stage()
    await configure(one(emulator.url, 'key_env: CLOUD_SECRET'))
    const environment = { ...NOTHING, CLOUD_SECRET: emulator.keys.manager }
    for (const args of [LIST, ['doctor', '--json'], ['sync', '--only', 'tokens', '--json']]) {
      const { code, out, err } = await here(args, { environment })
      expect(code, err).toBe(0)
      const notice = `requests for 'acme' go to ${emulator.url} with the key from CLOUD_SECRET`
      expect(linesOf(err).slice(0, 2)).toContain(notice)
      expect(() => JSON.parse(out) as unknown).not.toThrow()
      expect(out + err).not.toContain(emulator.keys.manager)
    }
  })

  it('that lists several organisations is refused when the environment names a single host or key', async () => {
    const { here, configure, emulator } = await stage()
    const { url, keys } = await stranger()
    const two = `${one(url, 'key_env: ONE_KEY')}  - { name: two, base_url: '${url}', key_env: TWO_KEY }\n`
    const path = await configure(two)
    const set = { ONE_KEY: 'one-key', TWO_KEY: 'two-key' }
    for (const [variable, value] of Object.entries({
      AGENT_BASE_URL: emulator.url,
      AGENT_APP_URL: emulator.url,
      AGENT_API_KEY: 'a-key',
      AGENT_API_KEY_FILE: path,
    })) {
      const environment = { ...NOTHING, ...set, [variable]: value }
      const { code, out, err } = await here(['sync'], { environment })
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(linesOf(err)[0]).toContain(`${variable} is set, and ${path} lists 2 organisations`)
      expect(linesOf(err)[1]).toContain(`Unset ${variable}`)
    }
    expect(keys).toEqual([])
    const same = { ...NOTHING, ...set, AGENT_BASE_URL: `${url}/` }
    const { err } = await here([...LIST, '--organisation', 'two'], { environment: same })
    expect(err).toContain('with the key from TWO_KEY')
    expect(keys).toEqual(['Bearer two-key'])
  })

  it.each([
    [0o602, 'can be changed by every user of this machine', 'chmod go-w'],
    [0o666, 'can be changed by every user of this machine', 'chmod go-w'],
  ])('with mode %i is refused, with the command that fixes it', async (mode, why, fix) => {
    const { here, configure, emulator } = await stage()
    const path = await configure('rate: 5\n', mode)
    for (const args of [['status'], LIST, ['run']]) {
      const { code, out, err } = await here(args)
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(linesOf(err)).toEqual([
        `agent-warehouse: the configuration ${path} ${why}`,
        `  ${fix} ${path}`,
      ])
    }
    expect(emulator.requests).toEqual([])
  })

  it.each([
    ['its folder', 0o777, 0o755],
    ['a folder above', 0o755, 0o777],
  ])('is refused when other users can write to %s', async (_, own, above) => {
    const folder = `${await temporaryFolder()}/above/own`
    await mkdir(folder, { recursive: true })
    const path = `${folder}/agent-warehouse.yaml`
    await writeFile(path, 'rate: 5\n', { mode: 0o600 })
    expect(readTrusted(path, 'it')).toBe('rate: 5\n')
    await chmod(folder, own)
    await chmod(dirname(folder), above)
    const wide = own === 0o755 ? dirname(folder) : folder
    expect(() => readTrusted(path, 'the configuration')).toThrow(
      `the configuration ${path} is in the folder ${wide}, which can be changed by `,
    )
    await chmod(wide, 0o1777) // sticky: only the owner of a file can replace it
    expect(readTrusted(path, 'it')).toBe('rate: 5\n')
  })

  it.each([
    [{ uid: 1000, gid: 1000, mode: 0o600 }, 1000, undefined],
    [{ uid: 0, gid: 0, mode: 0o644 }, 1000, undefined],
    [{ uid: 1000, gid: 1000, mode: 0o664 }, 1000, undefined],
    [{ uid: 1000, gid: 100, mode: 0o664 }, 1000, /its group/],
    [{ uid: 0, gid: 50, mode: 0o664 }, 1000, /its group/],
    [{ uid: 1000, gid: 1000, mode: 0o646 }, 1000, /every user/],
    [{ uid: 1001, gid: 1001, mode: 0o600 }, 1000, /owned by another user \(uid 1001\)/],
    [{ uid: 1001, gid: 1001, mode: 0o600 }, 0, /owned by another user/],
  ])(
    'with %j, read by user %i, is trusted unless another user can change it',
    (file, uid, message) => {
      const why = distrustOf(file, '/f', uid)?.why
      if (message === undefined) expect(why).toBeUndefined()
      else expect(why).toMatch(message)
    },
  )

  it.each([
    [{ uid: 1000, gid: 1000, mode: 0o646 }, /^chmod go-w '\/a b\/c'\\''s'$/],
    [{ uid: 1001, gid: 1001, mode: 0o600 }, /chown 1000 '\/a b\/c'\\''s'$/],
  ])('with %j, the command that fixes it can be copied, whatever the path', (file, fix) => {
    expect(distrustOf(file, "/a b/c's", 1000)?.fix).toMatch(fix)
  })

  it.each([
    [
      'an API key',
      'organisations: [{ name: a, base_url: "https://a", key: x, key_env: K }]',
      /key/,
    ],
    ['an unknown setting', 'dta: ./x', /there is no setting 'dta'.*Did you mean 'data'\?/],
    [
      'an unknown setting of an organisation',
      'organisations: [{ name: a, base_uri: "https://a", base_url: "https://a", key_env: K }]',
      /organisations\.0: there is no setting 'base_uri'.*Did you mean 'base_url'\?/,
    ],
    [
      'an unknown setting of a channel',
      'hooks: { channels: { a: { type: webhook, url_evn: U, url_env: V } } }',
      /there is no setting 'url_evn'.*Did you mean 'url_env'\?/,
    ],
    ['invalid YAML', 'data: [', /agent-warehouse\.yaml/],
  ])('with %s is refused', async (_, text, message) => {
    const { here, configure } = await stage()
    await configure(text)
    const { code, out, err } = await here(['status'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err).join(' ')).toMatch(message)
    expect(linesOf(err).length).toBeLessThanOrEqual(2)
  })

  it('that is a folder is refused with exit code 2 and one line', async () => {
    const { here, cwd } = await stage()
    await mkdir(`${cwd}/agent-warehouse.yaml`)
    const { code, err } = await here(['status'])
    expect(code).toBe(2)
    expect(linesOf(err)).toEqual([expect.stringMatching(/is a folder, not a file$/)])
  })
})

describe('a key from a file', () => {
  const fromFile = (path: string) => ({ AGENT_API_KEY: '', AGENT_API_KEY_FILE: path })

  it('is read without its trailing newline', async () => {
    const { here, cwd, emulator } = await stage()
    await writeFile(`${cwd}/key`, `${emulator.keys.manager}\n`, { mode: 0o600 })
    const { code, err } = await here(LIST, { environment: fromFile('key') })
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it.each<[string, (folder: string) => Promise<void>, RegExp]>([
    [
      'is missing',
      () => Promise.resolve(),
      /AGENT_API_KEY_FILE: \S+\/key cannot be read: .*\n {2}Name a file with nothing but the key/,
    ],
    ['is empty', (path) => writeFile(path, ''), /AGENT_API_KEY_FILE \(\S+\/key\) is empty/],
    ['is blank', (path) => writeFile(path, ' \n\n'), /is empty/],
    ['is a folder', (path) => mkdir(path).then(() => undefined), /is a folder/],
    [
      'holds two lines',
      (path) => writeFile(path, 'a\nb\n'),
      /contains characters that a key cannot contain/,
    ],
    ['is large', (path) => writeFile(path, 'k'.repeat(70_000)), /too large to be a key/],
  ])('that %s is refused with exit code 2', async (_, make, message) => {
    const { here, cwd, emulator } = await stage()
    await make(`${cwd}/key`)
    const { code, out, err } = await here(LIST, { environment: fromFile('key') })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
    expect(emulator.requests).toEqual([])
  })

  it.each(['fk-Qx7Zp9vL2mR8tN4kW6yB1sD5', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4'])(
    'law 11: a key in the place of the path is not shown: %s',
    async (key) => {
      const { here } = await stage()
      const { code, err } = await here([...LIST, '--debug'], { environment: fromFile(key) })
      expect(code).toBe(2)
      expect(err).toMatch(/^agent-warehouse: AGENT_API_KEY_FILE: \S+\/\[redacted\] cannot be read/)
      expect(err).not.toContain(key)
    },
  )

  it('together with a key in the environment is refused with exit code 2', async () => {
    const { here, emulator } = await stage()
    const { code, err } = await here(LIST, { environment: { AGENT_API_KEY_FILE: '/k' } })
    expect(code).toBe(2)
    expect(linesOf(err)[0]).toContain('AGENT_API_KEY and AGENT_API_KEY_FILE are both set')
    expect(emulator.requests).toEqual([])
  })

  it('that other users can read is used with a warning, and reported by doctor', async () => {
    const { here, cwd, emulator } = await stage()
    for (const name of ['key', 'the key']) {
      await writeFile(`${cwd}/${name}`, emulator.keys.manager)
      await chmod(`${cwd}/${name}`, 0o644)
      const { code, err } = await here(LIST, { environment: fromFile(name) })
      expect(code).toBe(0)
      const path = name === 'key' ? `${cwd}/key` : `'${cwd}/the key'`
      expect(err).toContain(`can be read by other users: chmod 600 ${path}`)
    }
    const environment = fromFile('key')
    const { out } = await here(['doctor'], { environment })
    expect(out).toMatch(/^warning +key file +AGENT_API_KEY_FILE: \S+\/key can be read by other/m)
  })
})

describe('a key that the configuration names', () => {
  const given = { ...NOTHING, CLOUD_SECRET: 'cloud-secret-1' }

  it('is the output of key_command, which runs once, without a shell, in a minimal environment', async () => {
    const { here, configure, cwd, emulator } = await stage()
    await writeFile(
      `${cwd}/print-key`,
      `#!/bin/sh\nenv >> "${cwd}/environment"\nprintf '%s' "$1" > "${cwd}/argument"\nprintf '%s\\n' '${emulator.keys.manager}'\n`,
      { mode: 0o700 },
    )
    await configure(one(emulator.url, `key_command: ['./print-key', '$(id); *']`))
    const environment = { ...given, PATH: process.env['PATH'] ?? '', LANG: 'C' }
    const { code, out, err } = await here(['sync', '--only', 'tokens'], { environment })
    expect(code, err).toBe(0)
    expect(err).toContain('with the key from key_command (./print-key)')
    expect(out + err).not.toContain(emulator.keys.manager)
    expect(await readFile(`${cwd}/argument`, 'utf8')).toBe('$(id); *')
    const seen = await readFile(`${cwd}/environment`, 'utf8')
    expect(seen.match(/^LANG=C$/gm)).toHaveLength(1)
    expect(seen).not.toMatch(/CLOUD_SECRET|AGENT_/)
  })

  it.each([
    [`['false']`, /key_command: 'false' ended with 1/],
    [`['true']`, /key_command \(true\) is empty/],
    [`['no-such-program-here']`, /is not a program on this machine/],
    [`['yes']`, /printed more than a key/],
    [`'echo key'`, /key_command/],
    ['[]', /key_command/],
  ])(
    'from a key_command %s that prints no key is refused with exit code 2',
    async (command, message) => {
      const { here, configure, emulator } = await stage()
      await configure(one(emulator.url, `key_command: ${command}`))
      const environment = { ...given, PATH: process.env['PATH'] ?? '' }
      const { code, out, err } = await here(LIST, { environment })
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(linesOf(err)[0]).toMatch(message)
      expect(emulator.requests).toEqual([])
    },
  )

  it('has exactly one source; a key_file is relative to the configuration file', async () => {
    const { here, configure, cwd, emulator } = await stage()
    await mkdir(`${cwd}/keys`)
    await writeFile(`${cwd}/keys/acme`, `${emulator.keys.manager}\n`, { mode: 0o600 })
    const path = await configure(one(emulator.url, `key_file: keys/acme`))
    const args = [...LIST, '--config', path]
    expect(await here(args, { environment: NOTHING, cwd: '/' })).toMatchObject({ code: 0 })
    for (const key of ['', `key_file: keys/acme, key_env: K`, `key_command: [a], key_env: K`]) {
      await configure(one(emulator.url, key))
      const { code, err } = await here(args, { environment: NOTHING })
      expect(code).toBe(2)
      expect(err).toContain('exactly one of key_env, key_file, key_command')
    }
  })
})

describe('the environment of a program that the configuration names', () => {
  it('has the variables to run and to reach the desktop, and no secret', () => {
    const passed = {
      ...{ PATH: '/bin', HOME: '/home/a', LANG: 'C', LC_ALL: 'C', TMPDIR: '/t', DISPLAY: ':0' },
      ...{ WAYLAND_DISPLAY: 'w', DBUS_SESSION_BUS_ADDRESS: 'd', XDG_RUNTIME_DIR: '/run' },
    }
    const kept = {
      ...{ AGENT_API_KEY: 'k', AGENT_API_KEY_FILE: '/k', ACME_AGENT_KEY: 'k', TEAM_CHAT_URL: 'u' },
      ...{ AWS_SECRET_ACCESS_KEY: 's', GITHUB_TOKEN: 't', NODE_OPTIONS: '--x', LD_PRELOAD: 'x' },
    }
    expect(commandEnvironment({ ...passed, ...kept })).toEqual(passed)
  })
})
