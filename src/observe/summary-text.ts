import {
  TOTALS,
  type FailedCheck,
  type FailedInterval,
  type ResourceTotals,
  type Summary,
} from './summary.ts'
import { allResources, verdictOf } from './verdict.ts'
import { counted, digits, duration, oneLine, shrinkage } from './words.ts'
import { size } from '../lib/text.ts'
import { chooseWarnings } from './warnings.ts'

const LISTED = 10
/** A platform whose text is in warnings can make any number of kinds. */
const MOST_KINDS = 30
const LABEL_WIDTH = 11

/**
 * The closing text of a run: the verdict, then what was asked, landed, empty,
 * failed, built and published, and how long each stage took. Of failures the first
 * ten are listed, and of warnings ten, the most severe first, or one of each kind
 * where there are more kinds; the run record holds them all.
 */
export function renderSummary(summary: Summary): string {
  const sections = [
    section('asked', askedLines(summary)),
    section('failed', listed(summary.failures, failureLine)),
    section(
      'shrunk',
      listed(summary.shrunk, (each) => oneLine(shrinkage(each))),
    ),
    section('built', builtLines(summary)),
    section('checks', listed(summary.failedChecks.toSorted(bySeverity), checkLine)),
    section('published', publishedLines(summary)),
    section('exported', summary.exports.map(exportLine)),
    section('warnings', warningLines(summary)),
    section('took', tookLines(summary)),
  ].flat()
  const gap = sections.length === 0 ? [] : ['']
  return `${[verdictOf(summary), ...gap, ...sections].join('\n')}\n`
}

/** The label stands before the first line; the others are indented as far. */
function section(label: string, lines: readonly string[]): string[] {
  return lines.map((line, at) => ((at === 0 ? label : '').padEnd(LABEL_WIDTH) + line).trimEnd())
}

const HEADER = ['', 'days', ...TOTALS.slice(1)]

function askedLines(summary: Summary): string[] {
  const resources = Object.entries(summary.resources)
  if (resources.length === 0) return summary.organisations.length > 0 ? ['nothing was due'] : []
  const { made, retried, bytes } = summary.requests
  const total: [string, ResourceTotals][] =
    resources.length > 1 ? [['all', allResources(summary)]] : []
  return [
    `${counted(made, 'request')}, ${digits(retried)} retried, ${size(bytes)} read`,
    ...aligned([HEADER, ...[...resources, ...total].map(resourceCells)]),
  ]
}

function resourceCells([resource, totals]: [string, ResourceTotals]): string[] {
  return [resource, ...TOTALS.map((name) => digits(totals[name]))]
}

function aligned(table: readonly (readonly string[])[]): string[] {
  const widths = HEADER.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)))
  return table.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  '),
  )
}

function failureLine({ orgId, resource, day, error, requestId }: FailedInterval): string {
  const isNamed = requestId === null || error.includes(requestId)
  const request = isNamed ? '' : ` (request ${requestId})`
  return oneLine(`${resource} ${day} of ${orgId}: ${error}${request}`)
}

function checkLine({ check, severity, failures }: FailedCheck): string {
  return `${severity === 'error' ? 'failed' : 'warned'}: ${check}, ${counted(failures, 'row')}`
}

function bySeverity(a: FailedCheck, b: FailedCheck): number {
  return Number(b.severity === 'error') - Number(a.severity === 'error')
}

function warningLines({ warnings }: Summary): string[] {
  const chosen = chooseWarnings(warnings, LISTED, MOST_KINDS)
  return withRest(
    chosen.map(({ message }) => oneLine(message)),
    warnings.length - chosen.length,
  )
}

function builtLines({ base, models, checks }: Summary): string[] {
  const run = checks.passed + checks.warned + checks.failed
  const parts = [
    base.files > 0 ? counted(base.files, 'base file') : '',
    models > 0 ? counted(models, 'model') : '',
    run > 0 ? `${counted(run, 'check')} (${checkCounts(checks)})` : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? [] : [parts.join(', ')]
}

function checkCounts({ passed, warned, failed }: Summary['checks']): string {
  return `${digits(passed)} passed, ${digits(warned)} warned, ${digits(failed)} failed`
}

function publishedLines({ published, unchanged }: Summary): string[] {
  if (unchanged !== null) return [`nothing: ${unchanged.path} holds all this already`]
  return published === null ? [] : [`${published.path} (${size(published.bytes)})`]
}

function exportLine({ target, path, tables, rows }: Summary['exports'][number]): string {
  return `${target}: ${counted(tables, 'table')}, ${counted(rows, 'row')} in ${path}`
}

function tookLines({ startedAt, finishedAt, stages }: Summary): string[] {
  if (finishedAt === null) return []
  const parts = stages.map(({ stage, durationMs }) => `${stage} ${duration(durationMs)}`)
  const detail = parts.length === 0 ? '' : ` (${parts.join(', ')})`
  return [`${duration(finishedAt - startedAt)}${detail}`]
}

function listed<T>(items: readonly T[], line: (item: T) => string): string[] {
  const shown = items.slice(0, LISTED).map(line)
  return withRest(shown, items.length - shown.length)
}

function withRest(shown: readonly string[], more: number): string[] {
  return more === 0 ? [...shown] : [...shown, `and ${digits(more)} more in the run record`]
}
