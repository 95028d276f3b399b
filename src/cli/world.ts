import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createHttp } from '../client/index.ts'
import { DeferredError } from '../core/errors.ts'
import type { RunEvent } from '../core/events.ts'
import type { World } from '../core/world.ts'

/** The real clock, chance and network; `close` ends its connections and signal handlers. */
export function createWorld(
  emit: (event: RunEvent) => void,
  now: () => number = () => Date.now(),
): {
  world: World
  close: () => Promise<void>
} {
  const http = createHttp()
  const stop = new AbortController()
  setMaxListeners(0, stop.signal) // one listener for each request under way
  const onSignal = (signal: NodeJS.Signals): void => {
    stop.abort(
      new DeferredError(`stopped by ${signal}`, {
        hint: 'What has landed is kept; the next run goes on from there.',
      }),
    )
  }
  process.once('SIGINT', onSignal)
  process.once('SIGTERM', onSignal)
  const world: World = {
    fetch: http.fetch,
    now,
    sleep: async (ms, signal) => {
      await delay(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
        throw signal?.aborted === true ? signal.reason : error
      })
    },
    random: () => Math.random(),
    emit,
    signal: stop.signal,
  }
  return {
    world,
    close: async () => {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
      await http.close()
    },
  }
}
