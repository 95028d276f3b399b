import { setTimeout as delay } from 'node:timers/promises'
import { createHttp, type ProxyOptions } from './index.ts'
import type { World } from '../lib/world.ts'

/** What the one who makes a World decides. */
export type Ends = Pick<World, 'emit' | 'signal' | 'hangUp'>

/** The real clock, chance and network; `close` ends its connections. */
export function createNodeWorld(
  ends: Ends,
  now: () => number = () => Date.now(),
  proxy?: ProxyOptions,
): { readonly world: World; readonly close: () => Promise<void> } {
  const http = createHttp(proxy)
  const world: World = {
    ...ends,
    fetch: http.fetch,
    now,
    sleep: async (ms, signal) => {
      await delay(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
        throw signal?.aborted === true ? signal.reason : error
      })
    },
    random: () => Math.random(),
  }
  return { world, close: http.close }
}
