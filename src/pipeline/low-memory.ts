import { setFlagsFromString } from 'node:v8'

/**
 * Runs `work` with a heap that stays near what is alive: garbage would otherwise
 * make up most of the memory of a sync, more of a long history than of a short
 * one. Where a database takes far more anyway it would cost time for nothing.
 */
export async function inLowMemoryMode<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString('--optimize-for-size')
  try {
    return await work()
  } finally {
    setFlagsFromString('--no-optimize-for-size')
  }
}
