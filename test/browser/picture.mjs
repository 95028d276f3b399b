// `npm run docs:picture`: assets/report.png, the picture of the README: four charts of the report
// that the demo writes, in Inter (Debian: fonts-inter) where that font is installed.
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SHOWN = '#active-users, #team-activity, #forecast, #model-spend'
const STYLE = `
  * { font-family: Inter, system-ui, sans-serif !important }
  figure[id]:not(${SHOWN}), section:not(:has(${SHOWN})), .nothing, footer { display: none }
  main { padding-top: 8px }
  h2 { margin-top: 24px }`

const folder = await mkdtemp(join(tmpdir(), 'picture-'))
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  const data = join(folder, 'demo')
  const command = join(root, 'dist', 'cli', 'main.js')
  execFileSync(process.execPath, [command, 'demo', '--log', 'none', '--data', data])
  const page = await browser.newPage({
    viewport: { width: 1080, height: 600 },
    deviceScaleFactor: 1.25,
    colorScheme: 'light',
  })
  await page.goto(pathToFileURL(join(data, 'report', 'report.html')).href)
  await page.addStyleTag({ content: STYLE })
  await page.screenshot({ path: join(root, 'assets', 'report.png'), fullPage: true })
} finally {
  await browser.close()
  await rm(folder, { recursive: true })
}
