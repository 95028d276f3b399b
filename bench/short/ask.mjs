// Requests to a server without a limit, by the client and its governor, or by nothing but a loop.
// Arguments: address, number of requests, `client` or `loop`.
import { request } from 'undici'
import { createWorld } from '../../dist/cli/world.js'
import { ApiClient } from '../../dist/client/index.js'
import { HISTORY_BEGINS } from '../lib.mjs'

const AT_ONCE = 8
const DAY = { startDate: HISTORY_BEGINS, endDate: HISTORY_BEGINS }
const [baseUrl, count, how] = process.argv.slice(2)
let left = Number(count)

const { world, close } = createWorld(() => undefined, {})
const options = {
  baseUrl,
  credential: 'k',
  rate: 100_000,
  concurrency: AT_ONCE,
  deadline: Infinity,
}
const client = new ApiClient(options, world)
const ask = {
  client: () => client.tools(DAY),
  loop: async () => {
    const { body } = await request(`${baseUrl}/api/v1/analytics/tools`, {
      headers: { authorization: 'Bearer k' },
    })
    JSON.parse(await body.text())
  },
}[how]
const work = async () => {
  for (; left > 0;) {
    left -= 1
    await ask()
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work))
await close()
