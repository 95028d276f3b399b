import { join } from 'node:path'
import { writeAtomic } from '../../lib/files.ts'
import { withoutMarkup } from '../../lib/text.ts'
import { trust, headlines } from './headlines.ts'
import { readReport, type ReportRequest } from './read.ts'
import { sections } from './charts.ts'
import type { ReportData } from './data.ts'
import { rangeName, type View } from './view.ts'
import { dayText, moreText, nameText } from './words.ts'
import { selfContained } from '../page.ts'

type ReportFormat = 'html' | 'md'

export function reportPath(dataFolder: string, format: ReportFormat): string {
  return join(dataFolder, 'report', `report.${format}`)
}

export type WrittenReport = Readonly<Awaited<ReturnType<typeof writeReport>>>

/**
 * Writes the report to `path`; a reader sees the earlier file or the new one.
 *
 * @throws UsageError as `readReport` does.
 */
export async function writeReport(request: ReportRequest, format: ReportFormat, path: string) {
  const data = await readReport(request)
  const text = format === 'html' ? html(data) : digest(data)
  await writeAtomic(path, text)
  return {
    bytes: Buffer.byteLength(text),
    /** The trust in the data of each organisation, in words. */
    verdicts: Object.fromEntries(
      data.organisations.map((each) => [each.org_id, trust(each).verdict]),
    ),
  }
}

/** The findings of the last 4 weeks as Markdown, for chat, e-mail or the summary of a job. */
export function digest(data: ReportData): string {
  const parts = data.organisations.map((organisation) => {
    const view: View = { organisation, days: 28, team: null, compare: 'previous' }
    const { verdict, notes } = trust(organisation)
    const until =
      organisation.last_day === null
        ? ''
        : `, ${rangeName(view)} to ${dayText(organisation.last_day)}`
    const figures = headlines(view).map(
      ({ label, value, change }) => `| ${label} | ${value} | ${change ?? '–'} |`,
    )
    const findings = sections(data.withPeople)
      .map(({ title, charts }) => {
        const read = charts.map((chart) => chart.read(view))
        const lines = read
          .filter(({ rows }) => rows.length > 0)
          .map((each) => `- ${safe(each.finding)}`)
        return lines.length === 0 ? '' : `**${title}**\n\n${lines.join('\n')}`
      })
      .filter((text) => text !== '')
    return [
      `## ${safe(nameText(organisation.org_id, 60))}${until}`,
      `${[verdict, ...notes].join('; ')}.`,
      ['| | | compared with the period before |', '|---|--:|---|', ...figures].join('\n'),
      ...findings,
    ].join('\n\n')
  })
  const left = data.organisationsInWarehouse - data.organisations.length
  const note = left > 0 ? [`${moreText(left)} in the warehouse.`] : []
  return `${['# Agent usage', ...parts, ...note].join('\n\n').trimEnd()}\n`
}

/** Escapes served text for Markdown and HTML, and keeps addresses from becoming links. */
function safe(text: string): string {
  return withoutMarkup(text)
    .replaceAll(/[\\`*_[\]|#~!]/g, '\\$&')
    .replaceAll('://', ':&#47;/')
    .replaceAll('www.', 'www&#46;')
    .replaceAll(/\s+/g, ' ')
}

/** The report in one file: it contains the data, and its script draws the charts. */
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

/**
 * JSON in which no text can end the surrounding element. Rows are stored as columns, which halves
 * the size.
 */
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
