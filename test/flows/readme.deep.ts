import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { spawn, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { load } from 'js-yaml'
import { packageRoot } from '../../src/lib/package.ts'
import { registered } from '../cli/registry.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { standIn } from '../support/stand-in.ts'

const read = (name: string): Promise<string> => readFile(join(packageRoot, name), 'utf8')

/** The lines of the shell blocks. */
async function shellLines(): Promise<string[]> {
  const blocks = [...(await read('README.md')).matchAll(/```sh\n([\s\S]*?)```/g)]
  return blocks.flatMap(([, block = '']) => block.split('\n').filter((line) => line !== ''))
}

function shell(script: string, environment: Record<string, string>, cwd: string) {
  return new Promise<{ code: number | null; text: string }>((resolve, reject) => {
    const child = spawn('bash', ['-euc', script], { cwd, env: environment })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ code, text })
    })
  })
}

describe('the README', () => {
  it('shows make targets that exist and that CI runs', async () => {
    const makefile = await read('Makefile')
    const ci = await read('.ci/run')
    const targets = (await shellLines()).filter((line) => line.startsWith('make '))
    expect(targets).toEqual(['make demo', 'make test'])
    for (const target of targets) {
      expect(makefile).toContain(`\n${target.slice('make '.length)}:`)
      expect(ci).toContain(target)
    }
  })

  it('shows commands that work one after the other, given an address and a key', async () => {
    const now = Date.parse('2026-01-20T05:00:00Z')
    const emulator = await standIn({ users: 8, now: () => now })
    const folder = await temporaryFolder()
    const bin = join(folder, 'node_modules', '.bin')
    await mkdir(bin, { recursive: true })
    await symlink(join(packageRoot, 'dist', 'cli', 'main.js'), join(bin, 'agent-warehouse.js'))
    const commands = (await shellLines())
      .filter((line) => line.startsWith('npx agent-warehouse'))
      .map((line) => line.replace('npx agent-warehouse', `node ${bin}/agent-warehouse.js`))
    expect(commands.length).toBeGreaterThanOrEqual(4)
    const { code, text } = await shell(
      commands.join('\n'),
      {
        PATH: process.env['PATH'] ?? '',
        AGENT_BASE_URL: emulator.url,
        AGENT_APP_URL: emulator.appUrl,
        AGENT_API_KEY: emulator.keys.manager,
      },
      folder,
    )
    expect(code, text).toBe(0)
    expect(text).toContain('Complete')
    expect(text).toContain('daily_active_users')
  })

  it('has a configuration file with the keys data, exports and organisations', async () => {
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(await read('README.md')) ?? []
    expect(Object.keys(load(yaml) as object)).toEqual(['data', 'exports', 'organisations'])
  })

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'has units that systemd accepts without a warning',
    async () => {
      const blocks = [...(await read('README.md')).matchAll(/```ini\n# (\S+)\n([\s\S]*?)```/g)]
      const folder = await temporaryFolder()
      const paths = blocks.map(([, path = '']) => join(folder, basename(path)))
      expect(paths.map((path) => basename(path))).toEqual([
        'agent-warehouse.service',
        'agent-warehouse.timer',
      ])
      for (const [at, [, , unit = '']] of blocks.entries()) {
        await writeFile(paths[at] ?? '', unit.replace('/usr/bin/node', process.execPath))
      }
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...paths], {
        encoding: 'utf8',
      })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    },
  )

  it('and the nightly workflow run commands that exist', async () => {
    const workflow = await read('.github/workflows/nightly.yml')
    const commands = (await registered()).map(({ name }) => name.split(' ')[0])
    const readme = await read('README.md')
    const used = [...`${workflow}${readme}`.matchAll(/(?:main\.js|npx agent-warehouse) ([a-z]+)/g)]
    expect(used.length).toBeGreaterThan(5)
    for (const [, name = ''] of used) expect(commands).toContain(name)
  })
})
