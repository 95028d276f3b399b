import { describe, expect, it } from 'vitest'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

const NIGHT = Date.parse('2026-01-18T05:00:00Z')

/** A data folder that was loaded but never built, on the morning after. */
async function loadedFolder() {
  let now = NIGHT
  let isFailing = false
  const emulator = await standIn({
    users: 3,
    seed: 1,
    now: () => now,
    intercept: ({ path }) =>
      isFailing && path.endsWith('/tools') ? new Response('{}', { status: 400 }) : undefined,
  })
  const data = await temporaryFolder()
  const environment = environmentOf(emulator, data)
  const sync = await command(['sync', '--log', 'none'], environment)
  expect(sync, sync.err).toMatchObject({ code: 0 })
  now += 86_400_000
  const run = (args: readonly string[], changed: Readonly<Record<string, string>> = {}) =>
    command(['run', ...args], { ...environment, ...changed })
  const published = async (): Promise<unknown> => {
    const sql = `select
        (select count(*) from fct_org_day) as days,
        (select count(*) > 0 from meta.intervals where status = 'failed') as has_failed`
    const { out } = await command(['query', sql, '--json'], environment)
    return JSON.parse(out)
  }
  const failTools = (): void => {
    isFailing = true
  }
  return { run, published, failTools }
}

describe('a run in which no day lands', () => {
  it('because the key is refused publishes what landed before', async () => {
    const { run, published } = await loadedFolder()
    const refused = await run([], { AGENT_API_KEY: 'no-such-key' })
    expect(refused, refused.err).toMatchObject({ code: 5 })
    expect(refused.out).toContain('what has landed was published')
    expect(await published()).toMatchObject([{ days: 4 }])
  })

  it('because the platform refuses every day publishes what landed before, and the failed days', async () => {
    const { run, published, failTools } = await loadedFolder()
    failTools()
    expect(await run(['--only', 'tools'])).toMatchObject({ code: 3 })
    expect(await published()).toEqual([{ days: 4, has_failed: true }])
  })
})
