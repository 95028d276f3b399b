import { oneLine } from '../lib/text.ts'
import type { Summary } from './summary.ts'
import { counted, digits } from './words.ts'

/** One sentence: the result of the run, and what happens next. */
export function verdictOf(summary: Summary): string {
  const { status, error, totals, published } = summary.record
  const because = error === null ? undefined : oneLine(error)
  const failed = `${digits(totals.checks_failed)} of ${counted(checksRun(summary), 'check')} failed`
  switch (status) {
    case 'killed':
    case 'running':
      return `Under way: ${digits(totals.asked - totals.left)} of ${counted(totals.asked, 'interval')} done.`
    case 'complete':
      return `Complete: ${whatWasDone(summary)}.`
    case 'partial':
      return `${whatIsMissing(summary, because)}; the next run tries again.`
    case 'deferred': {
      const left = totals.failed + totals.left === 0 ? 'the work was stopped' : failedDays(summary)
      return `Deferred: ${left}${because === undefined ? '' : ` (${because})`}; the next run continues from there.`
    }
    case 'refused': {
      const days = totals.asked === 0 ? '' : `${failedDays(summary)}, `
      const what = published === null ? 'nothing new' : 'what has landed'
      return `Refused: ${because ?? 'the credential or its role was refused'}; ${days}${what} was published`
    }
    case 'checks_failed':
      return `Not published: ${failed}; the previous warehouse stays in place.`
    case 'locked':
      return `Locked: ${because ?? 'another run holds the data folder'}`
    case 'usage':
      // a seed or a model may be invalid, which a run finds after it has landed days
      return `${totals.asked > totals.left ? 'Not published' : 'Not run'}: ${because ?? 'the arguments or the configuration are invalid'}`
    case 'failed':
      return `Failed: ${because ?? 'an unexpected error ended the run'}`
  }
}

/** The number of checks that ran, whatever their result. */
export function checksRun({ record: { totals } }: Summary): number {
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
