import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../src/emulator/emulator.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { standIn } from '../support/stand-in.ts'

const NOW = Date.parse('2026-02-03T05:00:00Z')
const SYNC = ['sync', '--only', 'users', '--log', 'none']

/** A stand-in platform whose responses have these headers, and a data folder. */
async function stage(answered: (number: number) => Response | Record<string, string>) {
  const intercept: EmulatorOptions['intercept'] = async ({ number, answer }) => {
    const given = answered(number)
    if (given instanceof Response) return given
    const response = await answer()
    for (const [name, value] of Object.entries(given)) response.headers.set(name, value)
    return response
  }
  const emulator = await standIn({ users: 12, now: () => NOW, intercept })
  const data = await temporaryFolder()
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
  }
  return { emulator, environment, state: join(data, 'state', 'governor', 'default.json') }
}

describe('the rate limits of the platform', () => {
  it('are learned in a run, saved, and shown by status', async () => {
    const quota = { 'ratelimit-policy': '"default";q=100;w=10', ratelimit: '"default";r=40;t=4' }
    const { environment, state } = await stage(() => quota)
    expect(await command(SYNC, environment)).toMatchObject({ code: 0 })
    const kept: unknown = JSON.parse(await readFile(state, 'utf8'))
    expect(kept).toMatchObject({ limit: { source: 'headers' } })
    const { out } = await command(['status'], environment)
    expect(out).toMatch(/^limits {7}at most 1000 requests a second, 8 at once$/m)
    expect(out).toMatch(
      /^learned {6}default: [\d.]+ requests a second, bursts of [\d.]+, \d at once/m,
    )
    const { out: json } = await command(['status', '--json'], environment)
    expect(JSON.parse(json)).toMatchObject({
      limits: { rate: 1000, concurrency: 8 },
      learned: [{ organisation: 'default', source: 'headers' }],
    })
  })

  it('are saved when the run is deferred, and status says when none was met', async () => {
    const refusal = { status: 429, headers: { 'retry-after': '86400' } }
    const { environment } = await stage((n) => (n === 12 ? new Response('{}', refusal) : {}))
    const deferred = await command([...SYNC, '--max-duration', '5m'], environment)
    expect(deferred).toMatchObject({ code: 4 })
    const { out } = await command(['status'], environment)
    expect(out).toMatch(/^learned {6}default: no rate limit met, \d at once$/m)
  })
})
