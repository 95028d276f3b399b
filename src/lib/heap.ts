import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Runs `work` with a heap that stays near the live data. Garbage would otherwise be most of the
 * memory of a sync, and more for a longer history.
 */
export async function inLowMemoryMode<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString('--optimize-for-size')
  try {
    return await work()
  } finally {
    setFlagsFromString('--no-optimize-for-size')
  }
}

/**
 * Returns the memory of a finished stage to the system, for a stage that needs far more. Costs one
 * collection, where `inLowMemoryMode` slows the whole stage down.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  // without it, most of a heap stays because a few live objects are on each page
  setFlagsFromString('--compact-on-every-full-gc')
  runInNewContext('gc()')
  setFlagsFromString('--no-compact-on-every-full-gc')
}
