import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { command, type Outcome } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

const NOW = Date.parse('2026-02-14T05:00:00Z')

/** A platform that serves a field `agents` in every row of /activity once the test sets it. */
async function stage() {
  const platform = { servesAgents: false }
  const emulator = await standIn({
    users: 6,
    now: () => NOW,
    intercept: async ({ path, answer }) => {
      if (!platform.servesAgents || !path.endsWith('/activity')) return undefined
      const response = await answer()
      const text = (await response.text()).replaceAll('"sessions":', '"agents":7,"sessions":')
      return new Response(text, { status: response.status, headers: response.headers })
    },
  })
  const data = await temporaryFolder()
  const environment = environmentOf(emulator, data)
  const run = async (...args: string[]): Promise<Outcome> => {
    const outcome = await command([...args, '--log', 'json'], environment)
    expect(outcome, outcome.err).toMatchObject({ code: 0 })
    return outcome
  }
  return { platform, data, run }
}

/** The messages of a command, on the terminal and in its record. */
async function said(data: string, { out, err }: Outcome): Promise<string> {
  const records = (await readdir(join(data, 'runs'))).sort()
  return out + err + (await readFile(join(data, 'runs', records.at(-1) ?? ''), 'utf8'))
}

it('verify reports no drift, whether a sync has reported it or not', async () => {
  const { platform, data, run } = await stage()
  const state = join(data, 'state', 'drift', 'org_demo.json')
  expect(await said(data, await run('run'))).toMatch(/\$\.seat of users .* (since|on|2026)/)
  const reported = await readFile(state, 'utf8')

  platform.servesAgents = true
  const verified = await said(data, await run('verify'))
  expect(verified).toContain('"command": "verify"')
  expect(verified).not.toMatch(/\$\.seat|\$\.agents|documented|since \d{4}-/)
  expect(await readFile(state, 'utf8')).toBe(reported)

  const refetched = await said(data, await run('sync', '--refetch', '--only', 'activity'))
  expect(refetched).toContain('$.agents of activity (integer) is not documented')
  expect(refetched).toContain('since 2026-01-14')
  expect(refetched).not.toContain('$.seat')
})
