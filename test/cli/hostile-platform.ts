import type { IncomingMessage } from 'node:http'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { testServer } from '../support/helpers.ts'
import { standIn } from '../support/stand-in.ts'

/** The day after the days that commands ask for, to keep the history short. */
const NOW = Date.parse('2026-02-04T05:00:00Z')

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HostilePlatform {
  readonly emulator: Emulator
  readonly environment: Readonly<Record<string, string>>
}

/**
 * The stand-in platform behind a proxy that accepts `key` and changes each response.
 * `original` turns the path of a request into one that the stand-in knows.
 */
export async function hostilePlatform(
  key: string,
  change: (answer: Answer, request: IncomingMessage) => Answer,
  original: (path: string) => string = (path) => path,
): Promise<HostilePlatform> {
  const emulator = await standIn({ users: 3, now: () => NOW })
  const proxy = (host: string) =>
    testServer((request, response) => {
      void forward(host, request, emulator.keys.manager, original).then((answer) => {
        const { status, headers, body } = change(answer, request)
        response.writeHead(status, headers)
        response.end(body)
      })
    })
  const [api, app] = await Promise.all([proxy(emulator.url), proxy(emulator.appUrl)])
  const environment = {
    AGENT_BASE_URL: api.url,
    AGENT_APP_URL: app.url,
    AGENT_API_KEY: key,
  }
  return { emulator, environment }
}

async function forward(
  host: string,
  request: IncomingMessage,
  key: string,
  original: (path: string) => string,
): Promise<Answer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(Buffer.from(piece as Uint8Array))
  const body = Buffer.concat(pieces)
  const { method = 'GET', url = '/' } = request
  const response = await fetch(host + original(url), {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body.byteLength === 0 ? {} : { body }),
  })
  const date = response.headers.get('date')
  return {
    status: response.status,
    headers: { 'content-type': 'application/json', ...(date === null ? {} : { date }) },
    body: await response.text(),
  }
}
