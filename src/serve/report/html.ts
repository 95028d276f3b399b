import { selfContained } from '../page.ts'
import type { ReportData } from './data.ts'

/** The report as one file: the data is in it, and its script draws the charts. */
export function html(data: ReportData): string {
  return selfContained({
    title: 'Agent usage',
    styles: ['report.css'],
    body: [
      '<main id="report"><noscript>The report needs JavaScript, which your browser does not run. <code>agent-warehouse report --format md</code> writes its findings as text.</noscript></main>',
      `<script id="data" type="application/json">${embedded(data)}</script>`,
    ],
    script: 'dist/report-page.js',
  })
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
