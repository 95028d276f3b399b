import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hooksSchema } from '../../src/hooks/config.ts'
import { hookFolders, type HookFolders, handToSender, spoolEvent } from '../../src/hooks/record.ts'
import { putIntoOutbox, readItems, takeInbox, type Notification } from '../../src/hooks/queue.ts'
import { send, type Sending, type Sent } from '../../src/hooks/sender.ts'
import { MAIN } from '../support/command.ts'
import { temporaryFolder, testServer, testWorld, type TestWorld } from '../support/helpers.ts'
import { ELSEWHERE, leaveLease } from '../support/lease.ts'
import { namesIn } from './support.ts'

const HOUR_MS = 3_600_000

interface Bench {
  readonly folders: HookFolders
  readonly world: TestWorld
  readonly sending: Sending
  /** An event as `hooks run` leaves it. */
  readonly event: (input?: object) => Promise<string>
  readonly send: (more?: Partial<Sending>) => Promise<Sent>
  readonly waiting: () => Promise<Notification[]>
  readonly failed: () => Promise<Notification[]>
}

async function bench(url: string, written: object = {}): Promise<Bench> {
  const folders = hookFolders(await temporaryFolder())
  const world = testWorld()
  const config = hooksSchema.parse({
    channels: { team: { type: 'team-chat', url_env: 'CHAT_URL' } },
    rules: [{ events: ['Stop'], channels: ['team'] }],
    dedupe_seconds: 0,
    ...written,
  })
  const sending: Sending = {
    world,
    config,
    folders,
    environment: { CHAT_URL: url, OTHER_URL: url },
    platform: 'linux',
    timeoutMs: 2_000,
  }
  let count = 0
  return {
    folders,
    world,
    sending,
    event: async (input = {}) => {
      count += 1
      const eventId = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
      const json = JSON.stringify({ hook_event_name: 'Stop', session_id: 's', ...input })
      const record = { eventId, recordedAt: world.now(), input: json }
      await handToSender(folders, await spoolEvent(folders, record))
      return eventId
    },
    send: (more = {}) => send({ ...sending, ...more }),
    waiting: () => readItems(folders.outbox),
    failed: () => readItems(folders.failed),
  }
}

/** Answers with these one after the other, then with 200. */
async function receiver(
  ...answers: (readonly [number, Record<string, string>?])[]
): Promise<{ url: string; ids: string[] }> {
  const ids: string[] = []
  const { url } = await testServer((request, response, count) => {
    ids.push(String(request.headers['idempotency-key']))
    const [status, headers] = answers[count - 1] ?? [200]
    response.writeHead(status, headers).end()
  })
  return { url, ids }
}

describe('the sender', () => {
  it('delivers each event once, and leaves only the spool', async () => {
    const { url, ids } = await receiver()
    const { folders, event, send: go } = await bench(url)
    const events = [await event(), await event(), await event()]
    expect(await go()).toEqual({ delivered: 3, failed: 0, isOwn: true })
    expect(ids).toEqual(events.map((id) => `${id}.team`))
    expect(await namesIn(folders.inbox)).toEqual([])
    expect(await namesIn(folders.outbox)).toEqual([])
    expect(await namesIn(folders.spool)).toHaveLength(3)
    expect(await go()).toEqual({ delivered: 0, failed: 0, isOwn: true })
  })

  it('delivers an event even after sync has landed it and removed its file', async () => {
    const { url, ids } = await receiver()
    const { folders, event, send: go } = await bench(url)
    await event()
    await rm(folders.spool, { recursive: true })
    await go()
    expect(ids).toHaveLength(1)
  })

  it('tries again under the same id after a temporary failure', async () => {
    const { url, ids } = await receiver([500], [503])
    const { world, event, send: go } = await bench(url)
    const began = world.now()
    const id = await event()
    expect(await go()).toMatchObject({ delivered: 1 })
    expect(ids).toEqual([`${id}.team`, `${id}.team`, `${id}.team`])
    expect(world.now() - began).toBeGreaterThanOrEqual(6_000)
  })

  it('waits as long as a receiver asks, with every notification for it', async () => {
    const { url, ids } = await receiver([429, { 'retry-after': '30' }])
    const { world, event, send: go } = await bench(url)
    const began = world.now()
    await event()
    await event()
    expect(await go()).toMatchObject({ delivered: 2 })
    expect(ids).toHaveLength(3)
    expect(world.now() - began).toBeGreaterThanOrEqual(30_000)
  })

  it('ends instead of waiting long, and the next sender continues when it is due', async () => {
    const { url, ids } = await receiver([503, { 'retry-after': '1800' }])
    const { world, event, send: go, waiting } = await bench(url)
    await event()
    expect(await go()).toMatchObject({ delivered: 0, failed: 0 })
    expect(await waiting()).toMatchObject([{ attempts: 1, error: 'answered with 503' }])
    await go()
    expect(ids).toHaveLength(1)
    await world.sleep(1_800_000)
    expect(await go()).toMatchObject({ delivered: 1 })
    expect(ids).toHaveLength(2)
  })

  it('does not wait for an attempt that a sender whose clock was ahead scheduled', async () => {
    const { url, ids } = await receiver([503, { 'retry-after': '1800' }])
    const { event, send: go, waiting } = await bench(url)
    await event()
    const ahead = testWorld(Date.parse('2027-03-10T06:00:00Z'))
    expect(await go({ world: ahead })).toMatchObject({ delivered: 0, failed: 0 })
    expect(await waiting()).toHaveLength(1)
    expect(await go()).toMatchObject({ delivered: 1 })
    expect(ids).toHaveLength(2)
  })

  it('gives up after 24 hours, with the reason', async () => {
    const { url } = await testServer((_, response) => response.writeHead(500).end())
    const { world, event, send: go, waiting, failed } = await bench(url)
    const began = world.now()
    await event()
    for (;;) {
      await go()
      if ((await waiting()).length === 0) break
      await world.sleep(HOUR_MS / 4)
    }
    const hours = (world.now() - began) / HOUR_MS
    expect(hours).toBeGreaterThan(22)
    expect(hours).toBeLessThanOrEqual(24.5)
    expect(await failed()).toMatchObject([{ error: 'given up after 24 h: answered with 500' }])
  })

  it('gives up at once if the receiver asks for a wait beyond 24 hours, and says so', async () => {
    const { url, ids } = await receiver([503, { 'retry-after': '90000' }])
    const { event, send: go, failed } = await bench(url)
    await event()
    expect(await go()).toMatchObject({ delivered: 0, failed: 1 })
    expect(ids).toHaveLength(1)
    const wait = 'the receiver asks for a wait that ends after 24 h'
    expect(await failed()).toMatchObject([
      { error: `given up, because ${wait}: answered with 503` },
    ])
  })

  it('gives up at once on a permanent failure, and delivers it after the cause is fixed', async () => {
    const { url, ids } = await receiver([404])
    const { event, send: go, failed } = await bench(url)
    await event()
    expect(await go({ environment: {} })).toMatchObject({ delivered: 0, failed: 1 })
    expect((await failed())[0]?.error).toContain('CHAT_URL is not set')
    await event()
    expect(await go()).toMatchObject({ failed: 1 })
    expect((await failed()).map(({ error }) => error)).toContain('answered with 404')
    expect(await go({ retryFailed: true })).toMatchObject({ delivered: 2, failed: 0 })
    expect(await failed()).toEqual([])
    expect(ids).toHaveLength(3)
  })

  it('delivers to other receivers while one is down', async () => {
    const { url, ids } = await receiver()
    const silent = await testServer(() => undefined)
    const {
      event,
      send: go,
      waiting,
    } = await bench(url, {
      channels: {
        dead: { type: 'team-chat', url_env: 'DEAD_URL' },
        team: { type: 'team-chat', url_env: 'CHAT_URL' },
      },
      rules: [{ events: ['Stop'], channels: ['dead', 'team'] }],
    })
    const events = [await event(), await event()]
    const environment = { CHAT_URL: url, DEAD_URL: silent.url }
    await go({ environment, timeoutMs: 100 })
    expect(ids.sort()).toEqual(events.map((id) => `${id}.team`))
    expect(await waiting()).toHaveLength(2)
  })

  it('runs one at a time, so that two started together deliver each event once', async () => {
    const { url, ids } = await receiver()
    const { event, send: go } = await bench(url)
    for (let count = 0; count < 5; count += 1) await event()
    const both = await Promise.all([go(), go()])
    expect(both.map(({ delivered }) => delivered).sort()).toEqual([0, 5])
    expect(both.filter(({ isOwn }) => !isOwn)).toHaveLength(1)
    expect(ids).toHaveLength(5)
  })

  it('accepts events that arrive while it waits for a response', async () => {
    const meanwhile: (() => Promise<string>)[] = []
    const ids: string[] = []
    const { url } = await testServer(
      (request: IncomingMessage, response: ServerResponse, count) => {
        ids.push(String(request.headers['idempotency-key']))
        const events = count === 1 ? meanwhile.map((each) => each()) : []
        void Promise.all(events).then(() => response.writeHead(count === 1 ? 500 : 200).end())
      },
    )
    const { event, send: go } = await bench(url)
    await event()
    meanwhile.push(event)
    expect(await go()).toMatchObject({ delivered: 2 })
    expect(new Set(ids).size).toBe(2)
  })

  it('takes over from a killed sender, and delivers its notifications', async () => {
    const { url, ids } = await receiver()
    const { folders, sending, world, event, send: go } = await bench(url)
    const id = await event()
    await takeInbox(folders, sending.config, world.now())
    const dead = spawn('true')
    await once(dead, 'exit')
    await leaveLease(folders.senderLock, { pid: dead.pid ?? 0 })
    expect(await go()).toEqual({ delivered: 1, failed: 0, isOwn: true })
    expect(ids).toEqual([`${id}.team`])
    expect(world.slept).not.toContain(1_000)
  })

  it('takes over from a sender on another host that stays silent', async () => {
    const { url, ids } = await receiver()
    const { folders, world, event, send: go } = await bench(url)
    const id = await event()
    await leaveLease(folders.senderLock, ELSEWHERE)
    expect(await go()).toEqual({ delivered: 1, failed: 0, isOwn: true })
    expect(ids).toEqual([`${id}.team`])
    expect(world.slept.filter((ms) => ms === 1_000)).toHaveLength(120)
  })

  it('leaves the work to a live sender on another host', async () => {
    const { url, ids } = await receiver()
    const { folders, sending, event } = await bench(url)
    await event()
    await leaveLease(folders.senderLock, ELSEWHERE, 3_600_000)
    const sleep = () => utimes(folders.senderLock, new Date(), new Date())
    const world = { ...sending.world, sleep }
    expect(await send({ ...sending, world })).toEqual({ delivered: 0, failed: 0, isOwn: false })
    expect(ids).toEqual([])
  })

  it('does not retry failed notifications while another sender is at work', async () => {
    const { url, ids } = await receiver([404])
    const { folders, sending, event, send: go, waiting, failed } = await bench(url)
    await event()
    expect(await go()).toMatchObject({ failed: 1 })
    await leaveLease(folders.senderLock, ELSEWHERE, 3_600_000)
    const sleep = () => utimes(folders.senderLock, new Date(), new Date())
    const world = { ...sending.world, sleep }
    // The other one may give it up at this moment, and would then remove the queued one.
    expect(await go({ world, retryFailed: true })).toMatchObject({ isOwn: false })
    expect(await waiting()).toEqual([])
    expect(await failed()).toHaveLength(1)
    expect(ids).toHaveLength(1)
  })

  it('makes the same notifications again, and none twice, after a kill between outbox and inbox', async () => {
    const { url, ids } = await receiver()
    const { folders, sending, world, event, send: go } = await bench(url, { dedupe_seconds: 60 })
    await event()
    await event({ session_id: 'other' })
    await event()
    const names = await namesIn(folders.inbox)
    const texts = await Promise.all(
      names.map((name) => readFile(join(folders.inbox, name), 'utf8')),
    )
    await takeInbox(folders, sending.config, world.now())
    await Promise.all(
      names.map((name, index) => writeFile(join(folders.inbox, name), texts[index] ?? '')),
    )
    await go()
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(2)
  })

  it('sends equal notifications once within the configured seconds, and again after them', async () => {
    const { url, ids } = await receiver()
    const { world, event, send: go } = await bench(url, { dedupe_seconds: 60 })
    const first = await event({ message: 'a' })
    await event({ message: 'a' })
    const other = [await event({ message: 'b' }), await event({ message: 'a', session_id: 't' })]
    await go()
    await world.sleep(30_000)
    await event({ message: 'a' })
    await go()
    await world.sleep(31_000)
    const again = await event({ message: 'a' })
    await go()
    expect(ids).toEqual([first, ...other, again].map((id) => `${id}.team`))
  })

  it('gives up a notification for a channel that is no longer configured, whatever its name', async () => {
    const { url } = await receiver()
    const { folders, sending, event, send: go, failed } = await bench(url)
    await event()
    await takeInbox(
      folders,
      {
        ...sending.config,
        rules: sending.config.rules.map((rule) => ({ ...rule, channels: ['constructor'] })),
      },
      0,
    )
    expect(await go()).toEqual({ delivered: 0, failed: 1, isOwn: true })
    expect((await failed()).map(({ error }) => error)).toEqual([
      'the channel is no longer in the configuration',
    ])
  })

  it('ignores what is not an event, and moves away a notification that cannot be read', async () => {
    const { url, ids } = await receiver()
    const { folders, event, send: go } = await bench(url)
    await event({ hook_event_name: 'ToolBegins' })
    await mkdir(folders.outbox, { recursive: true })
    await writeFile(join(folders.outbox, 'broken.json'), '{"id": 7}')
    await writeFile(join(folders.inbox, 'broken.json'), 'x')
    expect(await go()).toEqual({ delivered: 0, failed: 0, isOwn: true })
    expect(ids).toEqual([])
    expect(await namesIn(folders.outbox)).toEqual(['broken.json.unreadable'])
    expect(await namesIn(folders.inbox)).toEqual([])
  })

  it('leaves notifications in the queue when it is stopped', async () => {
    const { url, ids } = await receiver([500])
    const { world, event, send: go, waiting } = await bench(url)
    await event()
    world.stop.abort()
    expect(await go()).toMatchObject({ delivered: 0 })
    expect(ids).toEqual([])
    expect(await waiting()).toHaveLength(1)
  })

  it('reads the queue although it has more files than a process may open', async () => {
    const { folders, event, sending, waiting, world } = await bench('https://127.0.0.1:1')
    await event()
    const [first] = await takeInbox(folders, sending.config, world.now())
    if (first === undefined) throw new Error('there is no notification')
    for (let index = 1; index < 600; index += 1) {
      await putIntoOutbox(folders, { ...first, id: `${first.id}-${index}` })
    }
    const data = join(folders.root, '..', '..')
    const command = [process.execPath, MAIN, 'hooks', 'status', '--data', data]
    const limited = ['-c', 'ulimit -n 256 && exec "$@"', 'sh', ...command]
    const env = { PATH: process.env['PATH'] ?? '', HOME: data }
    const { stdout, stderr } = spawnSync('sh', limited, { cwd: data, env, encoding: 'utf8' })
    expect(stdout, stderr).toContain('600 undelivered notifications')
    expect(await waiting()).toHaveLength(600)
  })
})
