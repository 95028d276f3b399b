import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { Intercept } from '../../src/emulator/emulator.ts'
import { ask, filesIn, lines, stage } from './command-stage.ts'
import { execute } from './published-stage.ts'

/** Refuses an endpoint of analytics; '': every request. */
const refusing =
  (endpoint: string): Intercept =>
  ({ path }) =>
    endpoint === '' || path.endsWith(`/analytics/${endpoint}`)
      ? new Response('{"title":"Forbidden"}', { status: 403 })
      : undefined

describe('run with a refused key', () => {
  it.each(['member', 'guest'] as const)(
    'exits with code 5 and names the required role after few requests, for a %s',
    async (role) => {
      const { emulator, data, environment } = await stage()
      const key = { AGENT_API_KEY: emulator.keys[role] }
      const { code, err } = await execute(['run', '--log', 'none'], { ...environment, ...key })
      expect(code).toBe(5)
      expect(lines(err)[0]).toMatch(/403/)
      expect(err).toContain('Manager or Owner')
      expect(emulator.requests.length).toBeLessThanOrEqual(3)
      expect(await readdir(data)).not.toContain('warehouse.duckdb')
    },
  )

  it.each([
    ['tokens', ['tokens', 'tokens_by_model']],
    ['activity', ['activity', 'activity_by_client']],
    ['users', ['users']],
  ])(
    'exits with code 5 when /%s alone is refused, and the other resources land',
    async (endpoint, resources) => {
      const { emulator, environment } = await stage({ intercept: refusing(endpoint), users: 3 })
      const night = await execute(['sync', '--log', 'none'], environment)
      expect(night, night.err).toMatchObject({ code: 5 })
      expect(lines(night.out)[0]).toMatch(/^Refused: .*403/)
      const asked = emulator.requests.filter(({ path }) => path.includes(`/${endpoint}?`))
      expect(asked.length).toBeGreaterThan(0)
      expect(asked.length).toBeLessThanOrEqual(20)
      const { out } = await execute(['status', '--json'], environment)
      const { sum } = JSON.parse(out) as {
        sum: { resource: string; missing: number; failed: number }[]
      }
      const open = sum.filter(({ missing, failed }) => missing + failed > 0)
      expect(open.map(({ resource, missing, failed }) => ({ resource, missing, failed }))).toEqual(
        resources.map((resource) => ({ resource, missing: 0, failed: 20 })),
      )
    },
  )

  it('exits with code 5 and publishes what has landed, when a resource is refused and when every request is', async () => {
    let refused = 'activity'
    const { environment } = await stage({
      intercept: (request) => refusing(refused)(request),
      users: 3,
    })
    const states = `select resource, status, count(*) as days from meta.intervals
      where activity_date < '2026-02-03' and status in ('failed', 'missing') group by all order by all`
    const failed = ['activity', 'activity_by_client'].map((resource) => ({
      resource,
      status: 'failed',
      days: 20,
    }))
    const runs: unknown[] = []
    for (refused of ['activity', '']) {
      const night = await execute(['run', '--log', 'none'], environment)
      expect(night, night.err).toMatchObject({ code: 5 })
      expect(lines(night.out)[0]).toMatch(/^Refused: .*403.*, what has landed was published$/)
      expect(await ask(environment, states)).toEqual(failed)
      runs.push({ status: 'refused', exit_code: 5 })
      expect(await ask(environment, 'select status, exit_code from meta.runs')).toEqual(runs)
    }
  })

  it('publishes the days of an earlier run that was not built, although every request is refused', async () => {
    const { environment } = await stage({ users: 3 })
    expect(await execute(['sync', '--log', 'none'], environment)).toMatchObject({ code: 0 })
    const refused = { ...environment, AGENT_API_KEY: 'no-such-key' }
    const night = await execute(['run', '--log', 'none'], refused)
    expect(night, night.err).toMatchObject({ code: 5 })
    expect(lines(night.out)[0]).toMatch(/^Refused: .*401.*what has landed was published$/)
    expect(await ask(environment, 'select count(*) as days from fct_org_day')).toEqual([
      { days: 19 },
    ])
  })

  it('exits with code 5 when the key is refused in mid-run, and publishes what had landed', async () => {
    let isRefused = false
    const { environment } = await stage({
      users: 3,
      intercept: ({ path }) => {
        isRefused ||= path.endsWith('/analytics/users')
        return isRefused ? new Response('{"title":"Unauthorized"}', { status: 401 }) : undefined
      },
    })
    const night = await execute(['run', '--log', 'none'], environment)
    expect(night, night.err).toMatchObject({ code: 5 })
    expect(lines(night.out)[0]).toMatch(/^Refused: .*401.*, what has landed was published$/)
    expect(await ask(environment, 'select status, exit_code from meta.runs')).toEqual([
      { status: 'refused', exit_code: 5 },
    ])
    const activity = `select distinct status from meta.intervals where resource = 'activity'
      and activity_date between '2026-01-20' and '2026-01-22'`
    expect(await ask(environment, activity)).toEqual([{ status: 'landed' }])
  })

  it('exits with code 5 for an unknown key, which appears in no file or output', async () => {
    const { data, environment } = await stage()
    const key = { AGENT_API_KEY: 'sk-secret-9f8e7d6c' }
    const { code, out, err } = await execute(['run', '--log', 'json'], { ...environment, ...key })
    expect(code).toBe(5)
    expect(out + err).not.toContain(key.AGENT_API_KEY)
    for (const path of await filesIn(data)) {
      expect(await readFile(path, 'latin1')).not.toContain(key.AGENT_API_KEY)
    }
  })
})
