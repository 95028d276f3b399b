import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { handToSender, hookFolders, spoolEvent, type HookFolders } from '../../src/hooks/record.ts'
import { lockFile } from '../../src/lib/lock.ts'
import { command } from '../support/command.ts'
import { temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { smtpServer } from './smtp-server.ts'
import { namesIn, runHook } from './support.ts'

const CONFIG = `
hooks:
  dedupe_seconds: 0
  channels:
    team: { type: team-chat, url_env: CHAT_URL }
  rules:
    - { events: [Stop], channels: [team] }
`

interface Bench {
  readonly data: string
  readonly config: string
  readonly folders: HookFolders
  readonly hook: (session: string, url: string) => Promise<number | null>
}

async function bench(content = CONFIG): Promise<Bench> {
  const data = await temporaryFolder()
  const config = join(data, 'agent-warehouse.yaml')
  await writeFile(config, content)
  const folders = hookFolders(data)
  // The folder is removed after the test: no sender may still work in it.
  onTestFinished(() => until(async () => !(await namesIn(folders.root)).includes('sender.lock')))
  const hook = async (session_id: string, url: string): Promise<number | null> => {
    const input = JSON.stringify({ hook_event_name: 'Stop', session_id, cwd: `/${session_id}` })
    const { code } = await runHook(input, { data, config, environment: { CHAT_URL: url } })
    return code
  }
  return { data, config, folders, hook }
}

/** Polls until it is so: senders are processes of their own and report to no process. */
async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await delay(20)
}

/** A chat that does not answer its first messages. */
async function chat(silent = 0): Promise<{ url: string; texts: string[]; requests: string[] }> {
  const texts: string[] = []
  const { url, requests } = await testServer((request, response, count) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (count <= silent) return
      texts.push((JSON.parse(Buffer.concat(chunks).toString()) as { text: string }).text)
      response.writeHead(200).end()
    })
  })
  return { url, texts, requests }
}

describe('an event', () => {
  it('is recorded by hooks run and delivered by a process of its own', async () => {
    const { folders, hook } = await bench()
    const { url, texts } = await chat()
    expect(await hook('a', url)).toBe(0)
    await until(() => texts.length === 1)
    expect(texts).toEqual(['a: the agent has finished'])
    await until(async () => (await namesIn(folders.outbox)).length === 0)
    expect(await namesIn(folders.inbox)).toEqual([])
  })

  it('is delivered even if its time cannot be noted', async () => {
    const { folders, hook } = await bench()
    const { url, texts } = await chat()
    await mkdir(join(folders.last, 'Stop'), { recursive: true })
    expect(await hook('a', url)).toBe(0)
    await until(() => texts.length === 1)
    expect(await readFile(folders.errorsLog, 'utf8')).toContain('hooks run: ')
  })

  it('is delivered even when many arrive together', async () => {
    const { folders, hook } = await bench()
    const { url, texts } = await chat()
    const sessions = Array.from({ length: 20 }, (_, index) => `session-${index}`)
    const codes = await Promise.all(sessions.map((session) => hook(session, url)))
    expect(new Set(codes)).toEqual(new Set([0]))
    await until(() => texts.length >= sessions.length)
    await until(async () => (await namesIn(folders.outbox)).length === 0)
    expect([...texts].sort()).toEqual(
      sessions.map((session) => `${session}: the agent has finished`).sort(),
    )
  })

  it('is not lost when the sender is killed while it delivers', async () => {
    const { folders, hook } = await bench()
    const { url, texts, requests } = await chat(1)
    await hook('a', url)
    await until(() => requests.length === 1)
    const { pid } = JSON.parse(await readFile(folders.senderLock, 'utf8')) as { pid: number }
    process.kill(pid, 'SIGKILL')
    // As if some seconds had passed: only its parent knows whether a process has ended.
    await utimes(folders.senderLock, 0, 0)
    await hook('b', url)
    await until(() => texts.length === 2)
    expect([...texts].sort()).toEqual(['a: the agent has finished', 'b: the agent has finished'])
  })

  it('under a broken configuration is logged, and delivered after the configuration is fixed', async () => {
    const { data, config, folders, hook } = await bench('hooks: { rules: 7 }')
    const { url, texts } = await chat()
    expect(await hook('a', url)).toBe(0)
    const log = (): Promise<string> => readFile(folders.errorsLog, 'utf8').catch(() => '')
    await until(async () => (await log()).includes('hooks.rules'))
    await writeFile(config, CONFIG)
    const flush = ['hooks', 'flush', '--data', data, '--config', config]
    expect(await command(flush, { CHAT_URL: url })).toMatchObject({
      code: 0,
      out: 'delivered 1, given up 0, waiting 0\n',
    })
    expect(texts).toEqual(['a: the agent has finished'])
  })
})

describe('hooks flush', () => {
  it('ends with exit code 3 while another sender is at work and an event waits', async () => {
    const { data, config, folders } = await bench()
    const recordedAt = Date.now()
    const input = JSON.stringify({ hook_event_name: 'Stop', session_id: 'a', cwd: '/a' })
    const event = { eventId: 'event', recordedAt, input }
    await handToSender(folders, await spoolEvent(folders, event))
    const options = {
      runId: 'sender',
      world: { ...testWorld(), now: Date.now },
      warn: () => undefined,
    }
    const lease = await lockFile(folders.senderLock, options)
    const flush = ['hooks', 'flush', '--data', data, '--config', config]
    const outcome = await command(flush, { CHAT_URL: 'http://127.0.0.1:9' })
    await lease.release()
    expect(outcome).toMatchObject({
      code: 3,
      out: 'another sender is at work; delivered 0, given up 0, waiting 1\n',
    })
  })
})

describe('hooks test', () => {
  it.each([
    [200, 0, /^delivered to 'team' \(team-chat\)\n$/, /^$/],
    [404, 1, /^$/, /'team' \(team-chat\) was not delivered: answered with 404/],
    [500, 1, /^$/, /was not delivered: answered with 500/],
  ])(
    'reports the result of a response of %i, and ends with exit code %i',
    async (status, code, out, err) => {
      const { data, config } = await bench()
      const { url } = await testServer((_, response) => response.writeHead(status).end())
      const test = ['hooks', 'test', 'team', '--data', data, '--config', config]
      const outcome = await command(test, { CHAT_URL: url })
      expect(outcome.code).toBe(code)
      expect(outcome.out).toMatch(out)
      expect(outcome.err).toMatch(err)
    },
  )

  it('sends an e-mail', async () => {
    const { port, mails } = await smtpServer()
    const mail = `{ type: email, host: 127.0.0.1, port: ${port}, security: none, from: a@b.c, to: [d@e.f] }`
    const { data, config } = await bench(`hooks: { channels: { mail: ${mail} } }`)
    const test = ['hooks', 'test', 'mail', '--json', '--data', data, '--config', config]
    const { code, out } = await command(test)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      channel: 'mail',
      type: 'email',
      delivered: true,
      reason: null,
    })
    expect(mails).toHaveLength(1)
  })

  it('refuses an unknown channel, and one whose secret is not set, with exit code 2', async () => {
    const { data, config } = await bench()
    const test = (name: string) =>
      command(['hooks', 'test', name, '--data', data, '--config', config])
    expect(await test('phone')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Known: team.') as string,
    })
    expect(await test('team')).toMatchObject({
      code: 2,
      err: expect.stringContaining("channel 'team': CHAT_URL is not set") as string,
    })
  })
})

describe('hooks status', () => {
  it('lists what is registered, recorded and not delivered', async () => {
    const { data, config, hook, folders } = await bench()
    const settings = join(data, 'settings.json')
    const where = ['--data', data, '--config', config, '--settings', settings]
    await command(['hooks', 'install', '--events', 'Stop', ...where])
    const { url } = await testServer((_, response) => response.writeHead(404).end())
    await hook('a', `${url}/s3cr3t`)
    await until(async () => (await namesIn(folders.failed)).length === 1)
    await until(async () => !(await namesIn(folders.root)).includes('sender.lock'))
    const { out } = await command(['hooks', 'status', '--json', ...where])
    expect(out).not.toContain('s3cr3t')
    expect(JSON.parse(out)).toMatchObject({
      settings,
      spool: { files: 1 },
      undelivered: {
        inbox: 0,
        waiting: [],
        failed: [{ channel: 'team', event: 'Stop', attempts: 1, error: 'answered with 404' }],
        sender_at_work: false,
      },
      missing_variables: [{ channel: 'team', variable: 'CHAT_URL' }],
      errors: [],
    })
    const { events } = JSON.parse(out) as {
      events: { event: string; installed: boolean; runnable: boolean }[]
    }
    expect(
      events.filter(({ installed, runnable }) => installed && runnable).map(({ event }) => event),
    ).toEqual(['Stop'])
    const text = (await command(['hooks', 'status', ...where])).out
    expect(text).toMatch(/^Stop {10}installed, last received \d{4}/m)
    expect(text).toMatch(/^Notification {2}not installed, never received/m)
    expect(text).toContain("to 'team', 1 attempt: answered with 404")
  })

  it('lists the last errors across a log that was replaced', async () => {
    const { data, config, folders } = await bench()
    await mkdir(folders.root, { recursive: true })
    await writeFile(`${folders.errorsLog}.1`, 'first\nsecond\n')
    await writeFile(folders.errorsLog, 'third\n')
    const settings = join(data, 'settings.json')
    const where = ['--data', data, '--config', config, '--settings', settings]
    const { out } = await command(['hooks', 'status', '--json', ...where])
    expect(JSON.parse(out)).toMatchObject({ errors: ['first', 'second', 'third'] })
  })

  it('reports registered commands that cannot be run', async () => {
    const { data, config } = await bench()
    const settings = join(data, 'settings.json')
    const gone = '/gone/node /gone/main.js hooks run --data /gone/data --config /gone.yaml'
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: gone }] }] }
    await writeFile(settings, JSON.stringify({ hooks }))
    const where = ['--data', data, '--config', config, '--settings', settings]
    const { code, out } = await command(['hooks', 'status', ...where])
    expect(code).toBe(0)
    expect(out).toContain('installed, but cannot be run: /gone/node cannot be run')
    expect(out).toContain('records in another data folder: /gone/data')
  })
})
