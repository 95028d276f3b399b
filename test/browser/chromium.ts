import { createRequire } from 'node:module'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { z } from 'zod'
import { html } from '../../src/serve/report/report.ts'
import { report } from '../serve/report/sample.ts'

/** The browser's program. */
export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

export function launch(): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync']
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', ...quiet],
  })
}

/** Writes the report of these organisations, and returns its path. */
export async function writeReport(
  folder: string,
  name: string,
  organisations: readonly object[],
): Promise<string> {
  const path = join(folder, `${name}.html`)
  await writeFile(path, html(report(organisations)))
  return path
}

/** A page of a file, with its errors and requests. */
export interface Opened {
  readonly page: Page
  /** Errors and warnings of the console, dialogs, and requests other than that of the file. */
  readonly complaints: string[]
}

export async function open(
  browser: Browser,
  path: string,
  options: { hash?: string; width?: number; colorScheme?: 'light' | 'dark' } = {},
): Promise<Opened> {
  const { hash = '', width = 1240, colorScheme = 'light' } = options
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
  const complaints: string[] = []
  const url = pathToFileURL(path).href
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== url) complaints.push(`request: ${request.url()}`)
  })
  await page.goto(`${url}${hash}`)
  return { page, complaints }
}

const violations = z.array(
  z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }),
)

/** What axe finds against WCAG 2.1 AA: the rule and the first element that violates it. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  // The policy of the page allows only its own script, so this one is run by the debugger.
  await page.evaluate(await readFile(axe, 'utf8'))
  const found: unknown = await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }).then(({ violations }) => violations)`,
  )
  return violations.parse(found).map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`)
}
