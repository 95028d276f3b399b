import { grouped } from '../lib/grouped.ts'
import { oneLine, size, counted, digits, errorPattern, quotedNames } from '../lib/text.ts'
import { DAYS, type Days, type RunRecord } from './run-record.ts'
import type { Summary, Warning } from './summary.ts'
import { aligned, duration, requestNote, shrinkage } from './words.ts'

const LISTED = 10
/** Warnings quote the platform, which could make any number of kinds. */
const MOST_KINDS = 30
const LABEL_WIDTH = 11

/**
 * The closing text of a run: the verdict, then what was requested, landed, empty,
 * failed, built and published, and how long each stage took. It lists the first ten
 * failures, and ten warnings, the most severe first, or one of each kind if there are
 * more kinds; the run record holds all of them.
 */
export function renderSummary(summary: Summary): string {
  const { record, warnings, unchanged } = summary
  const chosen = chooseWarnings(warnings)
  const checks = record.failed_checks.toSorted((a, b) => rankOf(a) - rankOf(b))
  const sections = [
    section('fetched', askedLines(record)),
    section('fleet', organisationLines(record)),
    section('failed', listed(failureLines(record.failures))),
    section('shrunk', listed(record.shrunk.map(shrunkLine))),
    section('built', builtLines(summary)),
    section('checks', listed(checks.map(checkLine))),
    section('published', publishedLines(record, unchanged)),
    section('exported', record.exports.map(exportLine)),
    section('report', record.reports.map(fileText)),
    section('warnings', withRest(chosen, warnings.length - chosen.length)),
    section('took', tookLines(record)),
  ].flat()
  const gap = sections.length === 0 ? [] : ['']
  return `${[verdictOf(summary), ...gap, ...sections].join('\n')}\n`
}

/** Puts the label before the first line, and indents the others. */
function section(label: string, lines: readonly string[]): string[] {
  return lines.map((line, at) => ((at === 0 ? label : '').padEnd(LABEL_WIDTH) + line).trimEnd())
}

function listed(lines: readonly string[]): string[] {
  return withRest(lines.slice(0, LISTED), lines.length - LISTED)
}

function withRest(shown: readonly string[], more: number): string[] {
  const lines = shown.map(oneLine)
  return more <= 0 ? lines : [...lines, `and ${digits(more)} more in the run record`]
}

function askedLines({ resources, organisations, totals }: RunRecord): string[] {
  const rows: (readonly [string, Days])[] = Object.entries(resources)
  if (rows.length === 0) return organisations.length > 0 ? ['nothing was due'] : []
  if (rows.length > 1) rows.push(['all', totals])
  const cells = rows.map(([name, days]) => [name, ...DAYS.map((each) => digits(days[each]))])
  const { requests, retries, bytes } = totals
  return [
    `${counted(requests, 'request')}, ${digits(retries)} retried, ${size(bytes)} read`,
    ...aligned([['', 'days', ...DAYS.slice(1)], ...cells]),
  ]
}

function organisationLines({ failed_organisations: failed }: RunRecord): string[] {
  if (failed.length === 0) return []
  const alike = grouped(failed, ({ error }) => errorPattern(error)).values()
  const lines = [...alike].map((group) => {
    const names = group.map(({ name }) => name)
    return `${quotedNames(names)}: ${group[0].error}`
  })
  return [`${counted(failed.length, 'organisation')} failed`, ...listed(lines)]
}

type Failure = RunRecord['failures'][number]

/** One line for all intervals that failed in the same way, with the error of the first. */
function failureLines(failures: readonly Failure[]): string[] {
  const pattern = ({ error, request_id: id }: Failure): string => errorPattern(error, id)
  return [...grouped(failures, pattern).values()].flatMap((group) => {
    const [first, ...others] = group.toSorted((a, b) => (a.day < b.day ? -1 : 1))
    if (first === undefined) return []
    const { resource, day, error, request_id } = first
    const which = `${resource} ${day}${moreOf(first, others)}`
    return `${which}: ${error}${requestNote(request_id, error)}`
  })
}

/** ` and 2 more days through 2026-02-03 of acme`, ` of acme and 9 more intervals of 3 organisations`. */
function moreOf({ org_id, resource }: Failure, others: readonly Failure[]): string {
  const last = others.at(-1)
  if (last === undefined) return ` of ${org_id}`
  const organisations = new Set([org_id, ...others.map((each) => each.org_id)]).size
  if (organisations === 1 && others.every((each) => each.resource === resource))
    return ` and ${counted(others.length, 'more day')} through ${last.day} of ${org_id}`
  const all = organisations === 1 ? '' : ` of ${digits(organisations)} organisations`
  return ` of ${org_id} and ${counted(others.length, 'more interval')}${all}`
}

function shrunkLine({ org_id, size_before, is_confirmed, ...day }: RunRecord['shrunk'][number]) {
  return shrinkage({ ...day, orgId: org_id, sizeBefore: size_before, isConfirmed: is_confirmed })
}

type FailedCheck = RunRecord['failed_checks'][number]

function rankOf({ severity }: FailedCheck): number {
  return severity === 'error' ? 0 : 1
}

function checkLine({ check, severity, failures }: FailedCheck): string {
  return `${severity === 'error' ? 'failed' : 'warned'}: ${check}, ${counted(failures, 'row')}`
}

function builtLines(summary: Summary): string[] {
  const { base_files, models, ...totals } = summary.record.totals
  const counts = (['passed', 'warned', 'failed'] as const).map(
    (each) => `${digits(totals[`checks_${each}`])} ${each}`,
  )
  const run = checksRun(summary)
  const parts = [
    base_files > 0 && counted(base_files, 'base file'),
    models > 0 && counted(models, 'model'),
    run > 0 && `${counted(run, 'check')} (${counts.join(', ')})`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? [] : [parts.join(', ')]
}

function publishedLines({ published }: RunRecord, unchanged: string | null): string[] {
  if (unchanged !== null) return [`nothing new: ${unchanged} is up to date`]
  return published === null ? [] : [fileText(published)]
}

function fileText({ path, bytes }: RunRecord['reports'][number]): string {
  return `${path} (${size(bytes)})`
}

function exportLine({ target, path, tables, rows }: RunRecord['exports'][number]): string {
  return `${target}: ${counted(tables, 'table')}, ${counted(rows, 'row')} in ${path}`
}

function tookLines({ started_at, finished_at, stages }: RunRecord): string[] {
  if (finished_at === null) return []
  const parts = stages.map(({ stage, duration_ms }) => `${stage} ${duration(duration_ms)}`)
  const detail = parts.length === 0 ? '' : ` (${parts.join(', ')})`
  return [`${duration(Date.parse(finished_at) - Date.parse(started_at))}${detail}`]
}

/** Subjects of warnings, the most severe first; null: no subject. */
const BY_SEVERITY: readonly (Warning['about'] | null)[] = [
  'lease',
  'damage',
  'numbers',
  null,
  'drift',
]

/**
 * Chooses warnings, the most severe first: one of each kind, up to MOST_KINDS, and
 * more up to LISTED.
 */
function chooseWarnings(warnings: readonly Warning[]): string[] {
  const kinds = grouped(
    warnings,
    ({ about, kind, message }) => `${about ?? ''} ${kind ?? kindOf(message)}`,
  )
  const severity = ([first]: readonly Warning[]): number =>
    BY_SEVERITY.indexOf(first?.about ?? null)
  const groups = [...kinds.values()].sort((a, b) => severity(a) - severity(b))
  const ones = groups.flatMap((group) => group.slice(0, 1)).slice(0, MOST_KINDS)
  const others = groups.flatMap((group) => group.slice(1))
  const chosen = new Set([...ones, ...others.slice(0, Math.max(0, LISTED - ones.length))])
  return groups.flatMap((group) => group.filter((each) => chosen.has(each))).map((w) => w.message)
}

/**
 * The kind of a warning without `kind`: its words without quotations, names, numbers,
 * dates and paths.
 */
function kindOf(message: string): string {
  return message
    .replaceAll(/'[^']*'|"[^"]*"/g, '')
    .split(/\s+/)
    .filter((word) => /^[a-z]+[,;:]?$/i.test(word))
    .join(' ')
}

/** One sentence: the result of the run, and what happens next. */
export function verdictOf(summary: Summary): string {
  const { status, error, totals, published } = summary.record
  const because = error === null ? undefined : oneLine(error)
  const failed = `${digits(totals.checks_failed)} of ${counted(checksRun(summary), 'check')} failed`
  switch (status) {
    case 'killed':
    case 'running':
      return `In progress: ${digits(totals.asked - totals.left)} of ${counted(totals.asked, 'interval')} done.`
    case 'complete':
      return `Complete: ${whatWasDone(summary)}.`
    case 'partial':
      return `${whatIsMissing(summary, because)}; the next run tries again.`
    case 'deferred': {
      const left = totals.failed + totals.left === 0 ? 'the work was stopped' : failedDays(summary)
      return `Deferred: ${left}${because === undefined ? '' : ` (${because})`}; the next run continues from there.`
    }
    case 'refused': {
      const days = totals.failed + totals.left === 0 ? '' : `${failedDays(summary)}, `
      const what = published === null ? 'nothing new' : 'what has landed'
      return `Refused: ${because ?? 'the credential or its role was refused'}; ${days}${what} was published`
    }
    case 'checks_failed':
      return `Not published: ${failed}; an earlier warehouse stays in place.`
    case 'locked':
      return `Locked: ${because ?? 'another run holds the data folder'}`
    case 'usage': {
      // one of several organisations, or after days have landed a seed or a model, may be invalid
      const didWork = totals.asked > totals.left || totals.models > 0
      const notRun = didWork ? 'Not published' : 'Not run'
      const what = because ?? 'the arguments or the configuration are invalid'
      return published === null ? `${notRun}: ${what}` : `Partial: ${what}; the rest was published`
    }
    case 'failed':
      return `Failed: ${because ?? 'an unexpected error ended the run'}`
  }
}

/** The number of checks that ran, whatever their result. */
function checksRun({ record: { totals } }: Summary): number {
  return totals.checks_passed + totals.checks_warned + totals.checks_failed
}

function whatWasDone({ record, unchanged }: Summary): string {
  const { totals, organisations, published, rolled_back, exports, shrunk } = record
  const unconfirmed = shrunk.filter((each) => !each.is_confirmed).length
  const note =
    unconfirmed === 0 ? '' : ` (${digits(unconfirmed)} to be confirmed by a second recheck)`
  const parts = [
    totals.asked > 0 && `all ${counted(totals.asked, 'interval')} answered${note}`,
    totals.asked === 0 && organisations.length > 0 && 'no interval was due',
    totals.models > 0 && `${counted(totals.models, 'model')} built`,
    published !== null && 'warehouse published',
    unchanged !== null && 'nothing changed, so the published warehouse stays',
    rolled_back !== null && `rolled back to the warehouse that run ${rolled_back.to} built`,
    exports.length > 0 && 'exports written',
  ].filter((part) => part !== false)
  return parts.length === 0 ? 'there was nothing to do' : parts.join(', ')
}

function whatIsMissing(summary: Summary, because: string | undefined): string {
  const { asked, failed, left } = summary.record.totals
  if (failed + left === 0) return `Partial: ${because ?? 'some intervals could not be fetched'}`
  return `${asked === failed + left ? 'Nothing landed' : 'Partial'}: ${failedDays(summary)}`
}

/** `3 of 2,488 intervals failed and 10 were not reached`. */
function failedDays({ record: { totals } }: Summary): string {
  const { asked, failed, left } = totals
  const of = `of ${counted(asked, 'interval')}`
  if (left === 0) return `${digits(failed)} ${of} failed`
  if (failed === 0) return `${digits(left)} ${of} were not reached`
  return `${digits(failed)} ${of} failed and ${digits(left)} were not reached`
}
