import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { command } from '../support/command.ts'
import { ask, filesIn, lines, stage } from './command-stage.ts'

describe('run with a refused key', () => {
  it.each(['member', 'guest'] as const)(
    'exits with code 5 and names the required role after few requests, for a %s',
    async (role) => {
      const { emulator, data, environment } = await stage()
      const key = { AGENT_API_KEY: emulator.keys[role] }
      const { code, err } = await command(['run', '--log', 'none'], { ...environment, ...key })
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
    'exits with code 5 when /%s alone is refused, and publishes the other resources',
    async (endpoint, resources) => {
      let asked = 0
      const { environment } = await stage({
        intercept: ({ path }) => {
          if (!path.endsWith(`/analytics/${endpoint}`)) return undefined
          asked += 1
          return new Response('{"title":"Forbidden"}', { status: 403 })
        },
      })
      const night = await command(['run', '--log', 'none'], environment)
      expect(night, night.err).toMatchObject({ code: 5 })
      expect(lines(night.out)[0]).toMatch(/^Refused: .*403.*, what has landed was published$/)
      expect(asked).toBeLessThanOrEqual(20)
      const states = `select resource, status, count(*) as days from meta.intervals
      where activity_date < '2026-02-03' and status in ('failed', 'missing') group by all order by all`
      expect(await ask(environment, states)).toEqual(
        resources.map((resource) => ({ resource, status: 'failed', days: 20 })),
      )
      expect(await ask(environment, 'select status, exit_code from meta.runs')).toEqual([
        { status: 'refused', exit_code: 5 },
      ])
    },
  )

  it('exits with code 5 when the key is refused in mid-run, and publishes what had landed', async () => {
    let isRefused = false
    const { environment } = await stage({
      intercept: ({ path }) => {
        isRefused ||= path.endsWith('/analytics/users')
        return isRefused ? new Response('{"title":"Unauthorized"}', { status: 401 }) : undefined
      },
    })
    const night = await command(['run', '--log', 'none'], environment)
    expect(night, night.err).toMatchObject({ code: 5 })
    expect(lines(night.out)[0]).toMatch(/^Refused: .*401.*, what has landed was published$/)
    expect(await ask(environment, 'select status, exit_code from meta.runs')).toEqual([
      { status: 'refused', exit_code: 5 },
    ])
    const activity = `select distinct status from meta.intervals where resource = 'activity'
      and activity_date between '2026-01-20' and '2026-01-22'`
    expect(await ask(environment, activity)).toEqual([{ status: 'landed' }])
  })

  it('exits with code 5 when every request is refused, and keeps the published warehouse', async () => {
    let isRefused = false
    const { data, environment } = await stage({
      intercept: () =>
        isRefused ? new Response('{"title":"Forbidden"}', { status: 403 }) : undefined,
    })
    await command(['run', '--log', 'none', '--to', '2026-01-20'], environment)
    const published = await readFile(join(data, 'warehouse.duckdb'))
    isRefused = true
    const night = await command(['run', '--log', 'none'], environment)
    expect(night, night.err).toMatchObject({ code: 5 })
    expect(night.err).toContain('403')
    expect(published.equals(await readFile(join(data, 'warehouse.duckdb')))).toBe(true)
  })

  it('exits with code 5 for an unknown key, which appears in no file or output', async () => {
    const { data, environment } = await stage()
    const key = { AGENT_API_KEY: 'sk-secret-9f8e7d6c' }
    const { code, out, err } = await command(['run', '--log', 'json'], { ...environment, ...key })
    expect(code).toBe(5)
    expect(out + err).not.toContain(key.AGENT_API_KEY)
    for (const path of await filesIn(data)) {
      expect(await readFile(path, 'latin1')).not.toContain(key.AGENT_API_KEY)
    }
  })
})
