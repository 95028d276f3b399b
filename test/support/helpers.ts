import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { createHttp } from '../../src/client/index.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import type { World } from '../../src/lib/world.ts'
import { packageRoot } from '../../src/lib/package.ts'

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-warehouse-'))
  // A process that was not waited for may still write.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))
  return folder
}

export interface TestWorld extends World {
  readonly events: RunEvent[]
  /** The durations of each sleep in milliseconds, in order. */
  readonly slept: number[]
  readonly stop: AbortController
}

/**
 * Real HTTP; the clock starts at `startsAt` and only sleeping moves it, so that waiting costs no
 * time. Random numbers are always 0.5.
 */
export function testWorld(startsAt = Date.parse('2026-03-10T06:00:00Z')): TestWorld {
  const http = createHttp()
  onTestFinished(() => http.close())
  const [stop, hangUp] = [new AbortController(), new AbortController()]
  const events: RunEvent[] = []
  const slept: number[] = []
  let now = startsAt
  return {
    fetch: http.fetch,
    now: () => now,
    sleep: async (ms) => {
      slept.push(ms)
      now += ms
      await delay(0)
    },
    random: () => 0.5,
    emit: (event) => events.push(event),
    signal: stop.signal,
    hangUp: hangUp.signal,
    events,
    slept,
    stop,
  }
}

/** Registers what to do after the test: `onTestFinished`, or a list that a hook runs. */
export type AtEnd = (end: () => void | Promise<void>) => void

/** Lets a server listen on loopback until the test ends, whatever is connected then; returns its port. */
export async function listening(server: Server, atEnd: AtEnd = onTestFinished): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

export type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void

/** A real server on loopback whose responses the test writes; counts the requests. */
export async function testServer(
  handler: Handler,
  atEnd: AtEnd = onTestFinished,
): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`)
    handler(request, response, requests.length)
  })
  return { url: `http://127.0.0.1:${await listening(server, atEnd)}`, requests }
}

/**
 * The two hosts of a platform whose responses the test writes. Each answers 404 to a path
 * of the other; `requests` holds those of both that the handler answered.
 */
export async function testPlatform(
  handler: Handler,
  atEnd: AtEnd = onTestFinished,
): Promise<{ url: string; appUrl: string; requests: string[] }> {
  const requests: string[] = []
  const host = (isApp: boolean): ReturnType<typeof testServer> =>
    testServer((request, response) => {
      const { method = '', url = '' } = request
      if (url.startsWith('/api/organization/') !== isApp) {
        sendJson(response, 404, { title: 'Not Found', detail: `${method} ${url} is elsewhere` })
        return
      }
      handler(request, response, requests.push(`${method} ${url}`))
    }, atEnd)
  const [api, app] = await Promise.all([host(false), host(true)])
  return { url: api.url, appUrl: app.url, requests }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** Another process opens the file for reading and writing, as clients do by default. */
export async function holdOpen(path: string): Promise<() => Promise<void>> {
  const script = `
    import { DuckDBInstance } from '@duckdb/node-api'
    globalThis.held = await DuckDBInstance.create(${JSON.stringify(path)})
    console.log('open')
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: packageRoot,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return async () => {
    child.stdin.end()
    await once(child, 'exit')
  }
}
