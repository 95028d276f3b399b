import { ApiClient, type ClientOptions } from '../../src/client/index.ts'
import type { Emulator, EmulatorOptions } from '../../src/emulator/emulator.ts'
import { start, TODAY } from '../emulator/support.ts'
import { testPlatform, testWorld, type Handler, type TestWorld } from '../support/helpers.ts'

const OPTIONS = { credential: 'key-1', rate: 1000, concurrency: 4, deadline: Infinity }

export interface ClientOnPlatform {
  readonly client: ApiClient
  readonly emulator: Emulator
  /** Advances the clock of the platform, in milliseconds. */
  readonly advance: (ms: number) => void
}

/** A client of the stand-in platform, whose clock starts at noon of TODAY. */
export async function onPlatform(
  options: Partial<EmulatorOptions> = {},
  role: keyof Emulator['keys'] = 'manager',
): Promise<ClientOnPlatform> {
  let now = Date.parse(`${TODAY}T12:00:00Z`)
  const emulator = await start({ now: () => now, ...options })
  const addresses = { baseUrl: emulator.url, appUrl: emulator.appUrl }
  const client = new ApiClient(
    { ...OPTIONS, ...addresses, credential: emulator.keys[role] },
    testWorld(),
  )
  return {
    client,
    emulator,
    advance: (ms) => {
      now += ms
    },
  }
}

/** A client of two hosts whose responses the test writes. */
export async function onServer(
  handler: Handler,
  options: Partial<ClientOptions> = {},
): Promise<{ client: ApiClient; requests: string[]; world: TestWorld }> {
  const world = testWorld()
  const server = await testPlatform(handler)
  const addresses = { baseUrl: server.url, appUrl: server.appUrl }
  const client = new ApiClient({ ...OPTIONS, ...addresses, ...options }, world)
  return { client, requests: server.requests, world }
}

/** The error of a call. @throws Error when the call succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<Error> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (failure instanceof Error) return failure
  throw new Error('the call did not fail')
}

/** All text of an error, its causes included. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const more = error instanceof AggregateError ? error.errors.map(wordsOf).join(' ') : ''
  return `${error.message} ${error.stack ?? ''} ${more} ${wordsOf(error.cause)}`
}
