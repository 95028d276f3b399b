import { ExitCode } from '../lib/errors.ts'
import { TOTALS, type ResourceTotals, type Summary } from './summary.ts'
import { counted, digits, oneLine } from './words.ts'

/** How a run ended, in one word. */
export const RUN_STATUSES = [
  'running',
  'complete',
  'partial',
  'deferred',
  'refused',
  'checks_failed',
  'locked',
  'usage',
  'failed',
] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

const STATUS_BY_EXIT_CODE: Readonly<Record<number, RunStatus>> = {
  [ExitCode.complete]: 'complete',
  [ExitCode.unexpected]: 'failed',
  [ExitCode.usage]: 'usage',
  [ExitCode.partial]: 'partial',
  [ExitCode.deferred]: 'deferred',
  [ExitCode.credential]: 'refused',
  [ExitCode.checksFailed]: 'checks_failed',
  [ExitCode.locked]: 'locked',
}

/** By the exit code, except that a run which lacks an interval is never complete. */
export function statusOf(summary: Summary): RunStatus {
  if (summary.exitCode === null) return 'running'
  const status = STATUS_BY_EXIT_CODE[summary.exitCode] ?? 'failed'
  const { failed, left } = allResources(summary)
  return status === 'complete' && failed + left > 0 ? 'partial' : status
}

/** One plain sentence: what became of the run, and what happens next. */
export function verdictOf(summary: Summary): string {
  const all = allResources(summary)
  switch (statusOf(summary)) {
    case 'running':
      return `Under way: ${digits(all.asked - all.left)} of ${counted(all.asked, 'interval')} done.`
    case 'complete':
      return `Complete: ${whatWasDone(summary, all)}.`
    case 'partial':
      return `${whatIsMissing(all, summary.error)}; the next run asks again.`
    case 'deferred':
      return `Deferred: ${whatIsLeft(all)}${because(summary.error)}; the next run goes on from there.`
    case 'refused':
      return `Refused: ${said(summary.error, 'the credential or its role was refused')}; ${whatStands(summary, all)}`
    case 'checks_failed':
      return `Not published: ${whatChecksSay(summary)}; what was published before stays in place.`
    case 'locked':
      return `Locked: ${said(summary.error, 'another run holds the data folder')}`
    case 'usage':
      return `Not run: ${said(summary.error, 'the arguments or the configuration cannot be used')}`
    case 'failed':
      return `Failed: ${said(summary.error, 'an unexpected error ended the run')}`
  }
}

/** The totals of every resource together. */
export function allResources(summary: Summary): ResourceTotals {
  const sum = { asked: 0, landed: 0, empty: 0, unchanged: 0, failed: 0, left: 0, rows: 0 }
  for (const one of Object.values(summary.resources)) {
    for (const name of TOTALS) sum[name] += one[name]
  }
  return sum
}

function whatWasDone(summary: Summary, all: ResourceTotals): string {
  const parts = [
    all.asked > 0 ? `all ${counted(all.asked, 'interval')} answered${inDoubt(summary)}` : '',
    all.asked === 0 && summary.organisations.length > 0 ? 'no interval was due' : '',
    summary.models > 0 ? `${counted(summary.models, 'model')} built` : '',
    summary.published === null ? '' : 'warehouse published',
    summary.unchanged === null ? '' : 'nothing changed, so the published warehouse stays as it is',
    summary.rolledBack === null
      ? ''
      : `rolled back to the warehouse that run ${summary.rolledBack.to} built`,
    summary.exports.length > 0 ? 'exports written' : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'nothing was left to do' : parts.join(', ')
}

/** After a refusal: what came before it is good. */
function whatStands(summary: Summary, all: ResourceTotals): string {
  const published = summary.published === null ? 'nothing new' : 'what has landed'
  const failed = all.asked === 0 ? '' : `${failedOf(all)}, `
  return `${failed}${published} was published`
}

function inDoubt({ shrunk }: Summary): string {
  const unconfirmed = shrunk.filter(({ isConfirmed }) => !isConfirmed).length
  return unconfirmed === 0 ? '' : ` (${digits(unconfirmed)} to be confirmed by a second recheck)`
}

function whatIsMissing(all: ResourceTotals, error: string | null): string {
  const answered = all.asked - all.failed - all.left
  if (all.failed + all.left === 0) {
    return `Partial: ${said(error, 'some intervals could not be fetched')}`
  }
  if (answered === 0) return `Nothing landed: ${failedOf(all)}`
  return `Partial: ${failedOf(all)}`
}

/** `3 of 2,488 intervals failed and 10 were not reached`. */
function failedOf({ asked, failed, left }: ResourceTotals): string {
  const of = `of ${counted(asked, 'interval')}`
  if (left === 0) return `${digits(failed)} ${of} failed`
  if (failed === 0) return `${digits(left)} ${of} were not reached`
  return `${digits(failed)} ${of} failed and ${digits(left)} were not reached`
}

function whatIsLeft(all: ResourceTotals): string {
  if (all.failed + all.left === 0) return 'the work was stopped'
  return failedOf(all)
}

function whatChecksSay({ checks }: Summary): string {
  const run = checks.passed + checks.warned + checks.failed
  return `${digits(checks.failed)} of ${counted(run, 'check')} failed`
}

function because(error: string | null): string {
  return error === null ? '' : ` (${oneLine(error)})`
}

function said(error: string | null, otherwise: string): string {
  return error === null ? otherwise : oneLine(error)
}
