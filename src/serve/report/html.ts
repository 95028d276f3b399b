import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../lib/package.ts'
import type { ReportData } from './data.ts'

/**
 * One file that needs nothing else: data, style and script are in it, and its policy forbids
 * every request and every script but its own.
 */
export function html(data: ReportData): string {
  const style = readFileSync(join(packageRoot, 'assets', 'report.css'), 'utf8')
  const script = readFileSync(join(packageRoot, 'dist', 'report-page.js'), 'utf8')
  const sha256 = createHash('sha256').update(script).digest('base64')
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-${sha256}'`
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    '<title>Agent usage</title>',
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<main id="report"><noscript>The report needs JavaScript, which your browser does not run. <code>agent-warehouse report --format md</code> writes its findings as text.</noscript></main>',
    `<script id="data" type="application/json">${embedded(data)}</script>`,
    `<script>${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

/** JSON in which no text can end the element that holds it. Rows stand as columns: half the size. */
function embedded({ organisations, ...data }: ReportData): string {
  const packed = { ...data, organisations: organisations.map(packOrganisation) }
  return JSON.stringify(packed).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028')
}

function packOrganisation(organisation: ReportData['organisations'][number]): object {
  return Object.fromEntries(
    Object.entries(organisation).map(([name, value]) => [
      name,
      Array.isArray(value) ? columnsOf(value) : value,
    ]),
  )
}

function columnsOf(rows: readonly Readonly<Record<string, unknown>>[]): object {
  const names = Object.keys(rows[0] ?? {})
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]))
}
