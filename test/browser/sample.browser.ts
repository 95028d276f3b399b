import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { organisation } from '../serve/report/sample.ts'
import { accessibilityProblems, launch, open, writeReport } from './chromium.ts'

let browser: Browser
let folder: string
beforeAll(async () => {
  browser = await launch()
  folder = await mkdtemp(join(tmpdir(), 'report-'))
})
afterAll(async () => {
  await browser.close()
  await rm(folder, { recursive: true })
})

const pageOf = (name: string, organisations: readonly object[]) =>
  writeReport(folder, name, organisations)

it('law 5: a line breaks where a day, a week or a month is missing, and not where the next follows', async () => {
  const active = { weekly: 9, monthly: 9, stickiness: 1 }
  const month = { error: 0.1, last_month_error: null, straight_line_error: null, within_band: 9 }
  const day = { month: '2026-03', days_left: 9, p10: null, p50: null, p90: null, missing_days: 1 }
  const rows = organisation({
    active_days: [20, 21, 22, 24, 25].map((of) => ({ day: `2026-03-${of}`, daily: of, ...active })),
    month_days: [1, 2, 4, 5].map((of) => {
      return { month: '2026-03', day_of_month: of, billable_tokens: of }
    }),
    forecast_days: ['02', '03', '05', '06'].map((of) => ({
      ...{ ...day, day: `2026-03-${of}`, month_to_date: 5, credit_limit: null },
      exhaustion_day: null,
    })),
    forecast_months: ['2025-12', '2026-01', '2026-02', '2026-04', '2026-05'].map((name) => {
      return { ...month, month: name, forecasts: 9 }
    }),
    cache_weeks: ['02-23', '03-02', '03-16', '03-23'].map((of) => {
      return { week: `2026-${of}`, share: 0.5 }
    }),
  })
  const { page, complaints } = await open(browser, await pageOf('gaps', [rows]))
  for (const id of ['active-users', 'month-spend', 'forecast', 'forecast-errors', 'cache']) {
    const paths = await page.locator(`#${id} svg.plot path`).all()
    const texts = await Promise.all(paths.map((path) => path.getAttribute('d')))
    const parts = texts.map((text) => (text ?? '').split('M').length - 1)
    expect(Math.max(...parts), id).toBe(2)
  }
  expect(complaints).toEqual([])
})

it.each([
  ['bars', 'model-spend'],
  ['a line', 'cache'],
])('the ticks of weekly charts are Mondays: %s', async (_, id) => {
  const weeks = ['02-02', '02-09', '02-16', '02-23', '03-02', '03-09', '03-16', '03-23']
  const rows = organisation({
    model_weeks: weeks.map((week) => {
      return { week: `2026-${week}`, model: 'm', place: 1, billable_tokens: 10 }
    }),
    cache_weeks: weeks.map((week) => ({ week: `2026-${week}`, share: 0.5 })),
  })
  const hash = '#days=91'
  const { page } = await open(browser, await pageOf('mondays', [rows]), { hash })
  const texts = page.locator(`#${id} svg.plot g[font-variant]:not([text-anchor]) text`)
  const days = (await texts.allTextContents()).map((text) => Number.parseInt(text))
  expect(days.length).toBeGreaterThan(2)
  expect(days.filter((day) => ![2, 9, 16, 23, 30].includes(day))).toEqual([])
})

it('a link to a view that the report does not have says so, until another view is chosen', async () => {
  const path = await pageOf('links', [organisation(), { ...organisation(), org_id: 'org_b' }])
  const hash = '#org=%3Cimg%3E&days=7&team=gone&compare=none'
  const { page, complaints } = await open(browser, path, { hash })
  const note = page.locator('.lost')
  expect(await note.textContent()).toBe(
    'This report has no organisation <img>, no period 7, no team gone in 13 weeks; the rest is shown.',
  )
  expect(await accessibilityProblems(page)).toEqual([])
  expect(page.url()).toContain('#org=org_a&days=91&')
  await page.getByLabel('Organisation').selectOption('org_b')
  await expect.poll(() => note.count()).toBe(0)
  await page.evaluate(`location.hash = '#org=org_b&team=gone'`)
  await expect.poll(() => note.textContent()).toContain('no team gone in')
  await page.evaluate(`location.hash = '#org=org_a&days=28&compare=year'`)
  await expect.poll(() => page.locator('.period').textContent()).toContain('4 weeks')
  expect(await note.count()).toBe(0)
  expect(complaints).toEqual([])
})

it('a team that has no figures in the newly selected period is named, until another team is chosen', async () => {
  const team = {
    ...{ period: 'current' as const, team: 'data', active_users: 9, billable_tokens: 1 },
    ...{ tool_calls: 1, user_messages: 1, sessions: 1, files: 1, git_commits: 1 },
  }
  const periods = [28, 91].flatMap((days) =>
    (days === 91 ? ['data', '(no team)'] : ['(no team)']).map((name) => {
      return { ...team, team: name, days, git_prs_created: 1 }
    }),
  )
  const path = await pageOf('teams', [organisation({ periods })])
  const { page, complaints } = await open(browser, path, { hash: '#days=91&team=data' })
  const note = page.locator('.lost')
  expect(await note.count()).toBe(0)
  await page.getByLabel('Period', { exact: true }).selectOption('28')
  await expect
    .poll(() => note.allTextContents())
    .toEqual(['This report has no team data in 4 weeks; the rest is shown.'])
  expect(await page.locator('.period').textContent()).not.toContain('team')
  await page.getByLabel('Period', { exact: true }).selectOption('91')
  await expect.poll(() => page.locator('.period').textContent()).toContain('team data')
  expect(await note.count()).toBe(0)
  await page.getByLabel('Period', { exact: true }).selectOption('28')
  await page.getByLabel('Team', { exact: true }).selectOption('(no team)')
  await expect
    .poll(() => page.locator('.period').textContent())
    .toContain('4 weeks to 31 Mar 2026, people without a team, compared')
  expect(await note.count()).toBe(0)
  expect(complaints).toEqual([])
})

it('weeks in which all parts are zero have no bar', async () => {
  const weeks = ['2026-03-16', '2026-03-23'].map((week) => ({ week, is_left_edge: false }))
  const rows = organisation({
    lifecycle_weeks: weeks.map((week) => ({
      ...{ ...week, active_users: 0, new_users: 0, retained_users: 0 },
      ...{ resurrected_users: 0, churned_users: 0 },
    })),
    model_weeks: weeks.map(({ week }) => ({ week, model: 'm', place: 1, billable_tokens: 0 })),
  })
  const { page, complaints } = await open(browser, await pageOf('zeros', [rows]))
  for (const id of ['lifecycle', 'model-spend']) {
    const bars = await page
      .locator(`#${id} svg.plot [aria-label=rect] rect, #${id} svg.plot g > rect`)
      .all()
    expect(bars.length, id).toBe(0)
  }
  expect(complaints).toEqual([])
})

it('an element that is focused backwards is not covered by the choices', async () => {
  const weeks = ['2026-03-16', '2026-03-23'].map((week) => ({ week, share: 0.5 }))
  const output = { billable_tokens: 1e6, files: 1, git_commits: 1, git_prs_created: 1 }
  const rows = organisation({
    cache_weeks: weeks,
    autonomy_weeks: weeks.map(({ week }) => ({ week, ratio: 1, p50: 1, p90: 1 })),
    output_weeks: weeks.map(({ week }) => ({ week, ...output })),
  })
  const { page } = await open(browser, await pageOf('focus', [rows]), { width: 700 })
  await page.locator('summary').last().focus()
  const covered: unknown[] = []
  for (let presses = 0; presses < 8; presses += 1) {
    await page.keyboard.press('Shift+Tab')
    const place: unknown = await page.evaluate(`{
      const { top } = document.activeElement.getBoundingClientRect()
      const { bottom } = document.querySelector('.controls').getBoundingClientRect()
      top < bottom ? document.activeElement.textContent : null
    }`)
    if (place !== null) covered.push(place)
  }
  expect(covered).toEqual([])
})
