import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { html } from '../../src/serve/report/report.ts'
import { organisation, report } from '../serve/report/sample.ts'
import { MAIN } from '../support/command.ts'
import { accessibilityProblems, launch, open, writeReport } from './chromium.ts'

let browser: Browser
let folder: string
/** The report of the demo, with people. */
let demo: string
/** The documentation of its warehouse. */
let docs: string

beforeAll(async () => {
  browser = await launch()
  folder = await mkdtemp(join(tmpdir(), 'report-'))
  const data = join(folder, 'demo')
  demo = join(folder, 'people.html')
  docs = join(folder, 'docs.html')
  for (const args of [
    ['demo', '--log', 'none', '--data', data],
    ['report', '--people', '--out', demo, '--data', data],
    ['docs', '--out', docs, '--data', data],
  ]) {
    execFileSync(process.execPath, [MAIN, ...args], { stdio: 'pipe' })
  }
})
afterAll(async () => {
  await browser.close()
  await rm(folder, { recursive: true })
})

const pageOf = (name: string, organisations: readonly object[]) =>
  writeReport(folder, name, organisations)

it('every chart of the demo is drawn, and the page sends no request', async () => {
  const { page, complaints } = await open(browser, demo)
  const charts = await page.locator('.drawing').all()
  expect(charts.length).toBeGreaterThan(15)
  for (const chart of charts) {
    const name = await chart.getAttribute('data-chart')
    const marks = await chart.locator('svg path, svg rect, svg circle').count()
    expect(marks, `marks of ${name ?? ''}`).toBeGreaterThan(2)
  }
  expect(await page.locator('figure#people tbody tr').count()).toBeGreaterThan(10)
  expect(complaints).toEqual([])
})

it.each([
  ['light', 1240],
  ['dark', 1240],
  ['light', 390],
] as const)(
  'axe finds no accessibility problem in the demo: %s, %i pixels wide',
  async (colorScheme, width) => {
    const { page } = await open(browser, demo, { colorScheme, width })
    expect(await accessibilityProblems(page)).toEqual([])
  },
)

it.each([390, 280])(
  'a phone shows the page without scrolling sideways: %i pixels wide',
  async (width) => {
    const { page } = await open(browser, demo, { width })
    const wide: unknown = await page.evaluate('document.documentElement.scrollWidth')
    expect(wide).toBe(width)
  },
)

// A browser changes the page some time after the key, so its effect is polled for.
it('period and team can be chosen by keyboard, and are stored in the address', async () => {
  const { page, complaints } = await open(browser, demo)
  await page.getByLabel('Period', { exact: true }).focus()
  await page.keyboard.press('ArrowDown')
  const period = () => page.locator('.period').textContent()
  await expect.poll(period).toContain('26 weeks to')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  await expect.poll(period).toContain('team ')
  expect(page.url()).toContain('days=182&team=')
  expect(complaints).toEqual([])
})

it('the comparison can be chosen by keyboard, is stored in the address, and is described in words', async () => {
  const { page, complaints } = await open(browser, demo)
  const changes = () => page.locator('.tiles .change').allTextContents()
  const about = page.locator('figure#active-users .about')
  expect(await page.locator('.period').textContent()).toContain('compared with the period before: ')
  expect(await about.textContent()).toContain('dashed: the last 7 days in the period before')
  await page.getByLabel('Compare with').focus()
  await page.keyboard.press('ArrowDown')
  await expect
    .poll(() => page.locator('.period').textContent())
    .toContain('There is nothing to compare with')
  expect(new Set(await changes())).toEqual(new Set(['no earlier data']))
  await page.keyboard.press('ArrowDown')
  await expect.poll(changes).toEqual([])
  expect(page.url()).toContain('&compare=none')
  const again = await open(browser, demo, { hash: '#days=28&compare=year' })
  expect(await again.page.getByLabel('Compare with').inputValue()).toBe('year')
  await again.page.emulateMedia({ media: 'print' })
  expect(await again.page.getByLabel('Compare with').isVisible()).toBe(false)
  expect(await again.page.locator('.period').isVisible()).toBe(true)
  expect(complaints).toEqual([])
})

it('an address that is changed in the open page shows its view, as a link does', async () => {
  const { page, complaints } = await open(browser, demo)
  const period = () => page.locator('.period').textContent()
  await expect.poll(period).toContain('13 weeks to')
  await page.evaluate(`location.hash = '#days=28&compare=none'`)
  await expect.poll(period).toContain('4 weeks to')
  expect(await page.getByLabel('Compare with').inputValue()).toBe('none')
  expect(complaints).toEqual([])
})

it('settings are tables: days are not shown as shares, and an unknown number is aligned as a number', async () => {
  const { page, complaints } = await open(browser, demo)
  const table = page.locator('figure#session-retention tbody')
  expect(await table.locator('tr:first-child td.number:nth-child(3)').textContent()).toBe('90')
  expect(await table.locator('tr:nth-child(2) td.number:nth-child(5)').textContent()).toBe('–')
  expect(await page.locator('figure#allowed-emails tbody tr').count()).toBe(2)
  expect(complaints).toEqual([])
})

it('the table under a chart opens and saves as CSV', async () => {
  const { page } = await open(browser, demo)
  const figure = page.locator('figure#model-spend')
  await figure.getByText('Table', { exact: true }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    figure.getByRole('button', { name: 'Save as CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(/^model-spend_[\w-]+_91-days-to-[\d-]+\.csv$/)
})

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  'שלום \u202e reversed',
  'x'.repeat(300),
  '=1+1',
  '',
]

it('law 11: hostile names are shown as text', async () => {
  const tools = HOSTILE.map((name, at) => ({
    ...{ kind: 'tool' as const, days: 91, name, invocations: 9 - at, share: 0.1, names: 6 },
  }))
  const model_weeks = HOSTILE.map((model, at) => ({
    ...{ week: '2026-03-23', model, place: at + 1, billable_tokens: 10 },
  }))
  const client_weeks = HOSTILE.map((client) => ({ week: '2026-03-23', client, daily_users: 1 }))
  const rows = organisation({ tools, model_weeks, client_weeks })
  const path = await pageOf('hostile', [{ ...rows, org_id: HOSTILE[0] }, rows])
  const { page, complaints } = await open(browser, path)
  expect(await page.locator('h1').textContent()).toContain('<script>alert(1)</script>')
  expect(await page.locator('img').count()).toBe(0)
  const wide: unknown = await page.evaluate('document.documentElement.scrollWidth')
  expect(wide).toBe(1240)
  expect(complaints).toEqual([])
  expect(await accessibilityProblems(page)).toEqual([])
})

it('anomalous days and exhausted limits are drawn', async () => {
  const days = Array.from({ length: 20 }, (_, at) => ({
    ...{ month: '2026-03', day: `2026-03-${String(at + 1).padStart(2, '0')}`, days_left: 30 - at },
    missing_days: 0,
    ...{ month_to_date: 5 * (at + 1), p10: 130, p50: 150, p90: 180 },
    ...{ credit_limit: 140, exhaustion_day: '2026-03-28' },
  }))
  const flag = { is_above: true, billable_tokens: null, usual_low: null, usual_high: null }
  const rows = organisation({
    forecast_days: days,
    anomaly_days: [
      { ...flag, day: '2026-03-18', scope: 'org', flags: 1, billable_tokens: 90, usual_high: 5 },
      { ...flag, day: '2026-03-18', scope: 'user', flags: 3 },
      { ...flag, day: '2026-03-19', scope: 'user', flags: 1, is_above: false },
    ],
  })
  const { page, complaints } = await open(browser, await pageOf('limits', [rows]))
  expect(await page.locator('#forecast svg').textContent()).toContain('28 Mar 2026')
  expect(await page.locator('#forecast svg').textContent()).toContain('Limits 140')
  expect(await page.locator('#anomalies svg.plot rect').count()).toBe(3)
  expect(complaints).toEqual([])
  expect(await accessibilityProblems(page)).toEqual([])
})

it('a share under the pointer is a percentage, as in the title', async () => {
  const cache_weeks = [0.34, 0.345].map((share, at) => ({ week: `2026-03-${16 + 7 * at}`, share }))
  const autonomy_levels = [{ week: '2026-03-23', level: 'auto-low', share: 0.15 }]
  const concentration = [
    { month: '2026-03', share_of_users: 0.5, share_of_credits: 0.64 },
    { month: '2026-03', share_of_users: 1, share_of_credits: 1 },
  ]
  const rows = organisation({ cache_weeks, autonomy_levels, concentration })
  const { page, complaints } = await open(browser, await pageOf('shares', [rows]))
  const tip = async (id: string, point: number) => {
    const svg = page.locator(`#${id} svg.plot`)
    await svg.locator('circle').nth(point).hover({ force: true })
    return await svg.textContent()
  }
  await expect.poll(() => tip('cache', 0)).toContain('2026-03-16: 34%')
  await expect.poll(() => tip('concentration', 1)).toContain('50%: 64%')
  expect(await page.locator('#autonomy-levels rect title').textContent()).toContain(
    '2026-03-23: 15%',
  )
  expect(complaints).toEqual([])
})

it('a narrow screen shows at least two dates on each axis of days', async () => {
  const { page } = await open(browser, demo, { width: 320 })
  for (const id of ['active-users', 'model-spend', 'forecast', 'forecast-errors', 'cache']) {
    const ticks = page.locator(`#${id} svg.plot g[font-variant]:not([text-anchor]) text`)
    const dates = ticks.filter({ hasText: /\S/ })
    expect(await dates.count(), id).toBeGreaterThan(1)
  }
})

it('the bar of a week begins on its Monday, and one week has no ticks by hour', async () => {
  const model_weeks = [{ week: '2026-03-23', model: 'm', place: 1, billable_tokens: 10 }]
  const path = await pageOf('monday', [organisation({ model_weeks })])
  const { page } = await open(browser, path)
  const ticks = await page.locator('#model-spend svg.plot g text').allTextContents()
  expect(ticks).toContain('30')
  expect(ticks).not.toContain('22Mar')
})

it('levels of autonomy are stacked from manual to high', async () => {
  const autonomy_levels = ['auto-high', 'auto-low', 'auto-medium', 'manual'].map((level) => ({
    ...{ week: '2026-03-23', level, share: 0.25 },
  }))
  const path = await pageOf('levels', [organisation({ autonomy_levels })])
  const { page } = await open(browser, path)
  const bars = await page.locator('#autonomy-levels svg.plot rect').all()
  const placed = await Promise.all(
    bars.map(async (bar) => ({
      y: Number(await bar.getAttribute('y')),
      level: (await bar.textContent())?.split('\n')[0],
    })),
  )
  const places = placed.sort((a, b) => b.y - a.y).map(({ level }) => level)
  expect(places).toEqual(['manual', 'auto-low', 'auto-medium', 'auto-high'])
})

/** The names beside the last bar; the ticks of the axes are in groups. */
const BESIDE_MODELS = '#model-spend svg.plot > text'

it.each([1240, 390])(
  'the models of the last week are named beside its bar, one below the other: %i pixels wide',
  async (width) => {
    const { page } = await open(browser, demo, { width })
    const names = await page.locator(BESIDE_MODELS).all()
    const boxes = await Promise.all(names.map((name) => name.boundingBox()))
    const places = boxes.flatMap((box) => box ?? []).sort((a, b) => a.y - b.y)
    expect(places.length).toBeGreaterThan(4)
    places.forEach(({ x, y, width: length }, at) => {
      const above = places[at - 1] ?? { y: 0, height: 0 }
      expect(y).toBeGreaterThan(above.y + above.height - 1)
      expect(x + length).toBeLessThan(width)
    })
    expect(await page.locator('#model-spend .plot-swatch').count()).toBe(0)
  },
)

const LONG_NAMES = Array.from({ length: 7 }, (_, at) => `a-model-with-a-long-name-${at}`)

it.each([
  ['no organisation', []],
  ['an organisation without data', [organisation({ last_day: null, data_through: null })]],
  [
    'one day of one user',
    [
      organisation({
        active_days: [{ day: '2026-03-31', daily: 1, weekly: 1, monthly: 1, stickiness: 0.5 }],
        usage_groups: [{ active_days: 1, users: 1 }],
      }),
    ],
  ],
  [
    '100,000 users and 40 models',
    [
      organisation({
        active_days: ['2026-03-30', '2026-03-31'].map((day) => ({
          ...{ day, daily: 100_000, weekly: 100_000, monthly: 100_000, stickiness: 1 },
        })),
        usage_groups: [{ active_days: 28, users: 100_000 }],
        model_weeks: [...LONG_NAMES, '(33 other models)'].map((model, at) => ({
          ...{ week: '2026-03-23', model, place: at + 1, billable_tokens: 1e11 },
        })),
      }),
    ],
  ],
])('a report of %s is readable', async (name, organisations) => {
  const { page, complaints } = await open(browser, await pageOf('few', organisations))
  expect(await page.locator('main').textContent(), name).not.toMatch(/NaN|undefined|null/)
  const labels = await page.locator(BESIDE_MODELS).allTextContents()
  expect(new Set(labels).size).toBe(labels.length)
  expect(complaints).toEqual([])
  expect(await accessibilityProblems(page)).toEqual([])
})

it('a report of 20 organisations over two years stays below 3 MB and opens without an error', async () => {
  const weeks = Array.from({ length: 104 }, (_, at) =>
    new Date(Date.UTC(2024, 3, 1 + 7 * at)).toISOString().slice(0, 10),
  )
  const model_weeks = weeks.flatMap((week) =>
    Array.from({ length: 8 }, (_, at) => ({
      ...{ week, model: `model-${at}`, place: at + 1, billable_tokens: 1e9 + at },
    })),
  )
  const large = Array.from({ length: 20 }, (_, at) => ({
    ...organisation({ model_weeks }),
    org_id: `org_${at}`,
  }))
  const text = html(report(large))
  expect(Buffer.byteLength(text)).toBeLessThan(3e6)
  const { complaints } = await open(browser, await pageOf('large', large))
  expect(complaints).toEqual([])
})

it('the documentation can be searched by keyboard, and shows one model at a time', async () => {
  const { page, complaints } = await open(browser, docs)
  await page.getByLabel('Search models and columns').fill('cohort_week retention')
  expect(await page.locator('nav li:visible').allTextContents()).toEqual([
    'mart_retention_week',
    'Users of cohorts with a complete fourth week',
    'Users retained in the fourth week',
  ])
  await page.locator('nav li:visible a').first().focus()
  await page.keyboard.press('Enter')
  await expect
    .poll(() => page.locator('main > section:visible h2').allTextContents())
    .toEqual(['main.mart_retention_week'])
  await page.locator('section:visible').getByText('SQL', { exact: true }).click()
  expect(await page.locator('section:visible pre').textContent()).toContain('user_weeks as (')
  expect(complaints).toEqual([])
})

it('the title of the documentation names the model, and an unknown address is reported', async () => {
  const { page } = await open(browser, docs, { hash: '#fct_user_day' })
  expect(await page.title()).toBe('main.fct_user_day · Warehouse documentation')
  const found = page.locator('#found')
  await page.evaluate("location.hash = 'fct_no_more'")
  await expect.poll(() => found.textContent()).toBe("There is no model or metric 'fct_no_more'.")
  expect(await page.title()).toBe('Warehouse documentation')
  await page.evaluate("location.hash = 'metric-credits'")
  await expect.poll(() => page.title()).toBe('Credits · Warehouse documentation')
  expect(await found.textContent()).toBe('')
})

it('a phone shows every page of the documentation without scrolling sideways', async () => {
  const { page } = await open(browser, docs, { width: 375 })
  const wide: unknown = await page.evaluate(`
    [...document.querySelectorAll('main > section')].map(({ id }) => id).filter((id) => {
      for (const section of document.querySelectorAll('main > section')) section.hidden = section.id !== id
      return document.documentElement.scrollWidth > innerWidth
    })`)
  expect(wide).toEqual([])
})

it.each([
  ['light', 1240, ''],
  ['light', 1240, '#fct_user_day'],
  ['dark', 1240, '#fct_user_day'],
  ['light', 390, '#fct_user_day'],
] as const)(
  'axe finds no accessibility problem in the documentation: %s, %i pixels wide, %s',
  async (colorScheme, width, hash) => {
    const { page } = await open(browser, docs, { colorScheme, width, hash })
    expect(await accessibilityProblems(page)).toEqual([])
    const wide: unknown = await page.evaluate('document.documentElement.scrollWidth')
    expect(wide).toBe(width)
  },
)
