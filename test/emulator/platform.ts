import { expect } from 'vitest'
import { z } from 'zod'
import type { Emulator, EmulatorOptions } from '../../src/emulator/emulator.ts'
import { start, TODAY } from './support.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** Parsed; undefined for no body. */
  readonly body: unknown
}

export interface Client {
  readonly emulator: Emulator
  readonly get: (path: string, key?: string) => Promise<Reply>
  readonly send: (method: string, path: string, body?: unknown, key?: string) => Promise<Reply>
  /** Advances the clock of the platform, in milliseconds. */
  readonly advance: (ms: number) => void
}

/** A stand-in platform whose clock starts at noon of TODAY and moves with `advance` alone. */
export async function platform(options: Partial<EmulatorOptions> = {}): Promise<Client> {
  let now = Date.parse(`${TODAY}T12:00:00Z`)
  const emulator = await start({ now: () => now, ...options })
  const send: Client['send'] = async (method, path, body, key = emulator.keys.owner) => {
    const url = path.startsWith('/api/organization/') ? emulator.appUrl : emulator.url
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  return {
    emulator,
    send,
    get: (path, key) => send('GET', path, undefined, key),
    advance: (ms) => {
      now += ms
    },
  }
}

/** The Problem body outside analytics. */
const problem = z.strictObject({
  detail: z.string().min(1),
  status: z.int(),
  title: z.string().min(1),
  metadata: z.object({}),
})

/** Expects the Problem body of a status. */
export function expectProblem({ status, body }: Reply, expected: number): void {
  expect({ status, body }).toMatchObject({ status: expected, body: { status: expected } })
  problem.parse(body)
}
