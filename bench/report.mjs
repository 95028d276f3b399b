// The report of 3,000,000 user days of 60 teams and 40 models, of few people over a long time and of
// many over a short one: how long it takes to make, how large it is, and how long a browser takes
// from the navigation to its charts.
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { writeLake } from './lake.mjs'
import { agentWarehouse, CHROMIUM, median, report, tell, withFolder } from './lib.mjs'

const SHAPES = [
  { users: 10_000, days: 300 },
  { users: 100_000, days: 30 },
]
const TEAMS = 60
const MODELS = Array.from({ length: 40 }, (_, at) => `model-${at + 1}`)
const TURNS = 5
const MEGABYTE = 1024 * 1024

const figures = []
for (const shape of SHAPES) figures.push(...(await withFolder((folder) => measured(folder, shape))))
report(figures)

async function measured(dataFolder, { users, days }) {
  const of = `${users} people on ${days} days`
  tell(`writing a raw lake of ${of}, and a warehouse from it`)
  await writeLake(dataFolder, { users, days, models: MODELS })
  await mkdir(join(dataFolder, 'seeds'), { recursive: true })
  await writeFile(join(dataFolder, 'seeds', 'teams.csv'), teamsOf(users))
  await agentWarehouse(['build', '--log', 'none'], dataFolder)
  const path = join(dataFolder, 'report.html')
  const [made, written, opened] = [[], [], []]
  for (let turn = 1; turn <= TURNS; turn += 1) {
    tell(`turn ${turn} of ${TURNS}`)
    const text = ['report', '--format', 'md', '--out', join(dataFolder, 'report.md')]
    made.push(await agentWarehouse(['report', '--people', '--out', path], dataFolder))
    written.push(await agentWarehouse(text, dataFolder))
    opened.push(await secondsToCharts(path))
  }
  const mid = (turns, name) => median(turns.map((each) => each[name]))
  const peak = Math.max(...made.map(({ peakBytes }) => peakBytes)) / MEGABYTE
  return [
    { name: 'report', value: mid(made, 'seconds'), unit: 's', most: 15 },
    { name: 'CPU time of report', value: mid(made, 'cpuSeconds'), unit: 's' },
    { name: 'report --format md', value: mid(written, 'seconds'), unit: 's', most: 15 },
    { name: 'peak memory', value: peak, unit: 'MB' },
    { name: 'size', value: (await stat(path)).size / 1e6, unit: 'MB', most: 3 },
    { name: 'navigation to charts, of 5', value: median(opened), unit: 's', most: 1 },
  ].map((figure) => ({ ...figure, name: `${figure.name}, ${of}` }))
}

/** Each person is in one team from the first day. */
function teamsOf(users) {
  const lines = Array.from({ length: users }, (_, n) => {
    const user = `user_${n.toString(16).padStart(8, '0')}`
    return `${user},team-${n % TEAMS},,2026-01-14`
  })
  return ['user,team,cost_centre,valid_from', ...lines, ''].join('\n')
}

/** In a browser that was just started, until the charts are painted. */
async function secondsToCharts(path) {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu'],
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1240, height: 900 } })
    await page.goto(pathToFileURL(path).href)
    const [ms, charts] = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const told = () => resolve([performance.now(), count()])
          const count = () => document.querySelectorAll('.drawing svg').length
          requestAnimationFrame(() => setTimeout(told))
        }),
    )
    // A page that is empty is open at once.
    if (charts < 15) throw new Error(`the report shows ${charts} charts`)
    return ms / 1000
  } finally {
    await browser.close()
  }
}
