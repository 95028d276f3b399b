import { describe, expect, it } from 'vitest'
import { linesOf, stage } from './platform-stage.ts'

interface Report {
  readonly reportId: string
  readonly createdAt: number
}

describe('readiness reports', () => {
  it('are listed once each, newest first, across pages', async () => {
    const { run } = await stage()
    const { code, out } = await run(['readiness', 'list'])
    expect(code).toBe(0)
    expect(linesOf(out)[0]).toMatch(/^report_id +\| created_at +\| repo_url .* skipped$/)
    const json = await run(['readiness', 'list', '--json'])
    const reports = JSON.parse(json.out) as Report[]
    expect(new Set(reports.map(({ reportId }) => reportId)).size).toBe(reports.length)
    expect(linesOf(out)).toHaveLength(reports.length + 3)
    const times = reports.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted((a, b) => b - a))
  })

  it('are shown with every criterion', async () => {
    const { run } = await stage()
    const { code, out } = await run(['readiness', 'show', 'latest'])
    expect(code).toBe(0)
    expect(out).toMatch(/^criteria +\d+ of \d+ passed, \d+ skipped$/m)
    expect(out).toMatch(/^criterion +\| passing \| of \| rationale$/m)
    const latest = JSON.parse((await run(['readiness', 'show', 'latest', '--json'])).out) as Report
    const byId = await run(['readiness', 'show', latest.reportId, '--json'])
    expect(JSON.parse(byId.out)).toEqual(latest)
  })

  it('that do not exist exit with code 2 and a pointer to readiness list', async () => {
    const { run } = await stage()
    const { code, out, err } = await run(['readiness', 'show', 'nope'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)).toEqual([
      expect.stringMatching(/there is no readiness report 'nope' among \d+ reports/),
      expect.stringContaining('readiness list'),
    ])
  })

  it('need the address of the application host', async () => {
    const { run, emulator } = await stage()
    const { code, err } = await run(['readiness', 'list'], { environment: { AGENT_APP_URL: '' } })
    expect(code).toBe(2)
    expect(linesOf(err)).toEqual([
      expect.stringContaining('on the web application host, which is not configured'),
      expect.stringContaining('AGENT_APP_URL'),
    ])
    expect(emulator.requests).toEqual([])
  })
})
