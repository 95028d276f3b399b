import { createHmac } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Attempt, Channel } from '../../src/notify/channel.ts'
import { hooksSchema } from '../../src/hooks/config.ts'
import { deliver, desktopProgram, players } from '../../src/notify/deliver.ts'
import type { Notification } from '../../src/hooks/queue.ts'
import { listening, temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { smtpServer } from './smtp-server.ts'

const INPUT = '{"hook_event_name":"Notification", "big": 9007199254740993}'
const ITEM: Notification = {
  id: '0f0e.team',
  channel: 'team',
  event_id: '0f0e',
  event: 'Notification',
  recorded_at: '2026-03-10T06:00:00.000Z',
  is_failure: false,
  title: 'Notification in project',
  text: 'project: may I go on?',
  input: INPUT,
  queued_at: 0,
  attempts: 0,
  next_at: 0,
  error: null,
}

function channel(written: object): Channel {
  const { channels } = hooksSchema.parse({ channels: { team: written } })
  const { team } = channels
  if (team === undefined) throw new Error('there is no channel')
  return team
}

function attempt(
  written: object,
  environment: Record<string, string> = {},
  item = ITEM,
  timeoutMs = 5_000,
): Promise<Attempt> {
  const delivery = { world: testWorld(), environment, platform: 'linux' as const, timeoutMs }
  return deliver(channel(written), item, delivery)
}

interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A receiver of webhooks with a given response. */
async function receiver(
  answer: { status?: number; headers?: Record<string, string> } = {},
): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = []
  const { url } = await testServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(answer.status ?? 200, answer.headers).end('ok')
    })
  })
  return { url: `${url}/services/T000/B000/s3cr3t?token=t0k3n`, received }
}

const CHAT = { type: 'team-chat', url_env: 'CHAT_URL' }
const WEBHOOK = { type: 'webhook', url_env: 'HOOK_URL', secret_env: 'HOOK_SECRET' }

describe('a team chat', () => {
  it('receives the text without mentions or links', async () => {
    const { url, received } = await receiver()
    const text = 'a <!channel> & <https://x|y> @here @channels'
    expect(await attempt(CHAT, { CHAT_URL: url }, { ...ITEM, text })).toEqual({ kind: 'delivered' })
    expect(received.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { text: 'a &lt;!channel&gt; &amp; &lt;https://x|y&gt; @\u200bhere @channels' },
    ])
    expect(received[0]?.headers['content-type']).toBe('application/json')
  })
})

describe('a webhook', () => {
  it('receives the event unchanged, signed over the time and the body', async () => {
    const { url, received } = await receiver()
    const environment = { HOOK_URL: url, HOOK_SECRET: 'whsec' }
    expect(await attempt(WEBHOOK, environment)).toEqual({ kind: 'delivered' })
    const [{ headers, body } = { headers: {}, body: '' }] = received
    expect(body).toContain(`"input":${INPUT}}`)
    expect(JSON.parse(body)).toMatchObject({
      id: '0f0e.team',
      event: 'Notification',
      is_failure: false,
    })
    expect(headers).toMatchObject({ 'idempotency-key': '0f0e.team', 'x-delivery-id': '0f0e.team' })
    const timestamp = String(headers['x-timestamp'])
    expect(timestamp).toBe(String(Date.parse('2026-03-10T06:00:00Z') / 1000))
    const expected = createHmac('sha256', 'whsec').update(`${timestamp}.${body}`).digest('hex')
    expect(headers['x-signature']).toBe(`sha256=${expected}`)
  })

  it('receives an unsigned event when no secret is configured', async () => {
    const { url, received } = await receiver()
    await attempt({ type: 'webhook', url_env: 'HOOK_URL' }, { HOOK_URL: url })
    expect(received[0]?.headers).not.toHaveProperty('x-signature')
  })
})

describe('a delivery over HTTP', () => {
  it.each<[number, Record<string, string>, Attempt]>([
    [204, {}, { kind: 'delivered' }],
    [301, { location: 'http://127.0.0.1:1/' }, { kind: 'refused', reason: 'answered with 301' }],
    [400, {}, { kind: 'refused', reason: 'answered with 400' }],
    [404, {}, { kind: 'refused', reason: 'answered with 404' }],
    [410, {}, { kind: 'refused', reason: 'answered with 410' }],
    [408, {}, { kind: 'later', reason: 'answered with 408' }],
    [429, { 'retry-after': '30' }, { kind: 'later', reason: 'answered with 429', waitMs: 30_000 }],
    [500, {}, { kind: 'later', reason: 'answered with 500' }],
    [503, { 'retry-after': '2' }, { kind: 'later', reason: 'answered with 503', waitMs: 2_000 }],
  ])(
    'ends as delivered, refused or later by the status: %i %j',
    async (status, headers, expected) => {
      const { url } = await receiver({ status, headers })
      expect(await attempt(CHAT, { CHAT_URL: url })).toEqual(expected)
    },
  )

  it('is not repeated when the receiver accepts it and its response breaks off', async () => {
    const { url } = await testServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('ok', () => response.destroy())
      })
    })
    expect(await attempt(CHAT, { CHAT_URL: url })).toEqual({ kind: 'delivered' })
  })

  it('is tried again later without a response, and the reason has no part of the address', async () => {
    const { url } = await testServer(() => undefined)
    const secret = `${url}/services/s3cr3t?token=t0k3n`
    const silent = await attempt(CHAT, { CHAT_URL: secret }, ITEM, 200)
    expect(silent).toMatchObject({
      kind: 'later',
      reason: expect.stringContaining('200 ms') as string,
    })
    const gone = await attempt(CHAT, { CHAT_URL: 'http://127.0.0.1:1/s3cr3t?t0k3n' })
    expect(gone).toMatchObject({
      kind: 'later',
      reason: expect.stringContaining('ECONNREFUSED') as string,
    })
    expect(JSON.stringify([silent, gone])).not.toMatch(/s3cr3t|t0k3n/)
  })

  it.each(['', ' ', undefined])('is refused when the variable is %j', async (value) => {
    const environment: Record<string, string> = value === undefined ? {} : { CHAT_URL: value }
    const reason = 'CHAT_URL is not set in the environment that the agent runs its hooks in'
    expect(await attempt(CHAT, environment)).toEqual({ kind: 'refused', reason })
  })

  it.each([
    'not an address',
    'http://example.com/s3cr3t',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
  ])('is refused when the address is %s', async (url) => {
    const reason = 'CHAT_URL is not an https URL (plain http is accepted for this machine only)'
    expect(await attempt(CHAT, { CHAT_URL: url })).toEqual({ kind: 'refused', reason })
  })
})

const USER = { user: 'robot', password: 'pässword' }

function email(port: number, more: object = {}): object {
  return {
    type: 'email',
    host: '127.0.0.1',
    port,
    security: 'none',
    from: 'Robot <robot@example.com>',
    to: ['a@example.com', 'b@example.com'],
    ...more,
  }
}

describe('an e-mail', () => {
  it('goes to every address after the user was authenticated', async () => {
    const { port, mails } = await smtpServer({ auth: USER })
    const written = email(port, { user: 'robot', password_env: 'SMTP_PASSWORD' })
    const item = { ...ITEM, text: 'line one\n.\n..two\nend', title: 'Sübject' }
    expect(await attempt(written, { SMTP_PASSWORD: USER.password }, item)).toEqual({
      kind: 'delivered',
    })
    const [mail] = mails
    expect(mail).toMatchObject({
      from: 'robot@example.com',
      to: ['a@example.com', 'b@example.com'],
      auth: USER,
    })
    expect(mail?.data).toContain('Message-ID: <0f0e.team@agent-warehouse.invalid>')
    expect(mail?.data).toContain('Subject: =?UTF-8?')
    // Lines that begin with a dot are stuffed on the way, and arrive unchanged.
    expect(mail?.data.split('\r\n\r\n')[1]?.trim().split('\r\n')).toEqual([
      'line one',
      '.',
      '..two',
      'end',
    ])
  })

  it('has no header injected by a line break in the title', async () => {
    const { port, mails } = await smtpServer()
    await attempt(email(port), {}, { ...ITEM, title: 'a\r\nBcc: c@example.com' })
    expect(mails[0]?.data).not.toMatch(/^Bcc:/m)
    expect(mails[0]?.to).toHaveLength(2)
  })

  it.each<[string, (command: string, count: number) => string | undefined, Attempt['kind']]>([
    ['does not know an address', (name) => (name === 'RCPT' ? '550 who?' : undefined), 'refused'],
    ['is busy', (name) => (name === 'MAIL' ? '451 later' : undefined), 'later'],
    ['is full', (name) => (name === 'DATA' ? '452 full' : undefined), 'later'],
    ['rejects the mail', (name) => (name === 'DATA' ? '554 no' : undefined), 'refused'],
    [
      'knows one address of two',
      (name, count) => (name === 'RCPT' && count === 2 ? '550 who?' : undefined),
      'refused',
    ],
  ])('is refused or tried later by a server that %s', async (_, answer, kind) => {
    const { port } = await smtpServer({ answer })
    expect(await attempt(email(port))).toMatchObject({ kind })
  })

  it('with a wrong password is refused, and the reason does not contain it', async () => {
    const { port, mails } = await smtpServer({ auth: USER })
    const written = email(port, { user: 'robot', password_env: 'SMTP_PASSWORD' })
    const result = await attempt(written, { SMTP_PASSWORD: 'wr0ngpass' })
    expect(result).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('535') as string,
    })
    const encoded = Buffer.from('\0robot\0wr0ngpass').toString('base64')
    expect(JSON.stringify(result)).not.toContain('wr0ngpass')
    expect(JSON.stringify(result)).not.toContain(encoded)
    expect(mails).toEqual([])
  })

  it('is not sent in the clear when starttls is configured', async () => {
    const { port, mails, lines } = await smtpServer({ auth: USER })
    const written = email(port, {
      security: 'starttls',
      user: 'robot',
      password_env: 'SMTP_PASSWORD',
    })
    const { kind } = await attempt(written, { SMTP_PASSWORD: USER.password })
    expect(kind).not.toBe('delivered')
    expect(mails).toEqual([])
    expect(lines.some((line) => line.startsWith('AUTH'))).toBe(false)
  })

  it('is tried later when the server is silent, hangs up or is unreachable', async () => {
    const silent = await smtpServer({ isSilent: true })
    expect(await attempt(email(silent.port), {}, ITEM, 300)).toMatchObject({ kind: 'later' })
    expect(await attempt(email(1))).toMatchObject({ kind: 'later' })
    const port = await listening(createServer((socket) => socket.destroy()))
    expect(await attempt(email(port))).toMatchObject({ kind: 'later' })
  })
})

describe('a program of this machine', () => {
  /** A program that records its arguments, one per line. */
  async function program(
    name: string,
    exit = 0,
  ): Promise<{
    PATH: string
    recordedArgs: () => Promise<string>
    variables: () => Promise<string>
  }> {
    const folder = await temporaryFolder()
    const path = join(folder, name)
    await writeFile(
      path,
      `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/recordedArgs"\nenv > "${folder}/variables"\necho wrong >&2\nexit ${exit}\n`,
    )
    await chmod(path, 0o755)
    return {
      PATH: `${folder}:/usr/bin:/bin`,
      recordedArgs: () => readFile(join(folder, 'recordedArgs'), 'utf8'),
      variables: () => readFile(join(folder, 'variables'), 'utf8'),
    }
  }

  it('gets a notification as an argument, never as a part of a command', async () => {
    const { PATH, recordedArgs } = await program('notify-send')
    const item = { ...ITEM, title: '--hint=x', text: '$(touch /tmp/x) `id` "; <b>&' }
    expect(await attempt({ type: 'desktop' }, { PATH }, item)).toEqual({ kind: 'delivered' })
    expect((await recordedArgs()).trim().split('\n')).toEqual([
      '--app-name=agent-warehouse',
      '--',
      '--hint=x',
      '$(touch /tmp/x) `id` "; &lt;b&gt;&amp;',
    ])
  })

  it('is the one of the operating system', () => {
    const item = { title: 'a" & b', text: "$(id) '" }
    const mac = desktopProgram('darwin', item)
    expect(mac.file).toBe('osascript')
    expect(mac.args.slice(-3)).toEqual(['--', item.title, item.text])
    const windows = desktopProgram('win32', item)
    expect(windows.args.join(' ')).not.toContain('$(id)')
    expect(windows.environment).toEqual({ HOOK_TITLE: item.title, HOOK_TEXT: item.text })
    expect(players('darwin', '/a.wav', undefined)).toEqual([{ file: 'afplay', args: ['/a.wav'] }])
    expect(players('win32', 'C:\\a.wav', undefined)[0]?.environment).toEqual({
      HOOK_FILE: 'C:\\a.wav',
    })
  })

  it('gets no secret of the environment', async () => {
    const { PATH, variables } = await program('notify-send')
    const environment = { PATH, LANG: 'C', AGENT_API_KEY: 'k', TEAM_CHAT_URL: 'u' }
    expect(await attempt({ type: 'desktop' }, environment)).toEqual({ kind: 'delivered' })
    expect(await variables()).toMatch(/^LANG=C$/m)
    expect(await variables()).not.toMatch(/AGENT_API_KEY|TEAM_CHAT_URL/)
  })

  it('plays a sound: the configured player, or one that is installed', async () => {
    const { PATH, recordedArgs } = await program('paplay')
    expect(await attempt({ type: 'sound', file: '/a b.wav' }, { PATH })).toEqual({
      kind: 'delivered',
    })
    expect(await recordedArgs()).toBe('/a b.wav\n')
    const other = await program('my-player')
    const written = { type: 'sound', file: '/c.wav', player: 'my-player' }
    expect(await attempt(written, { PATH: other.PATH })).toEqual({ kind: 'delivered' })
    expect(await other.recordedArgs()).toBe('/c.wav\n')
  })

  it('that fails or is missing refuses the delivery with the reason', async () => {
    const folder = await temporaryFolder()
    expect(await attempt({ type: 'desktop' }, { PATH: folder })).toEqual({
      kind: 'refused',
      reason: 'there is no notify-send on this machine',
    })
    const { PATH } = await program('notify-send', 3)
    expect(await attempt({ type: 'desktop' }, { PATH })).toEqual({
      kind: 'refused',
      reason: 'notify-send ended with 3: wrong',
    })
  })
})
