// A nightly run, and the time of the same requests alone.
import { request } from 'undici'
import { agentWarehouse, tell, withStolenShare } from './lib.mjs'

/** The default number of concurrent requests of a run. */
const AT_ONCE = 8

/** A whole night on the data folder: wall and CPU seconds, peak bytes. */
export function night(dataFolder, { url, key }) {
  return agentWarehouse(['run'], dataFolder, {
    AGENT_BASE_URL: url,
    AGENT_API_KEY: key,
    AGENT_WAREHOUSE_RATE: '100000',
  })
}

/** One nightly run; then the same requests alone to `fresh`. */
export async function measured(platform, fresh, oneNight) {
  await platform.ask('requests') // a prepared platform then forgets those of the night before
  const run = await withStolenShare(() => oneNight(platform))
  const requests = await platform.ask('requests')
  const again = await withStolenShare(() => replay(fresh, requests))
  const { seconds: alone, megabytes } = again.result
  const { seconds: whole, cpuSeconds, peakBytes } = run.result
  const stolen = Math.max(run.stolen, again.stolen)
  const lost = `${(stolen * 100).toFixed(0)} % taken by other machines`
  tell(`  ${whole.toFixed(1)} s, the requests alone ${alone.toFixed(1)} s, ${lost}`)
  return { whole, alone, requests, megabytes, stolen, cpuSeconds, peak: peakBytes / 1024 ** 2 }
}

/** The time of the same requests for a client that discards the responses. */
async function replay({ url, key }, paths) {
  const queue = [...paths]
  let bytes = 0
  const began = performance.now()
  const ask = async () => {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      const { body } = await request(url + path, { headers: { authorization: `Bearer ${key}` } })
      for await (const piece of body) bytes += piece.byteLength
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  return { seconds: (performance.now() - began) / 1000, megabytes: bytes / 1024 ** 2 }
}
