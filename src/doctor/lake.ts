import { ExitCode } from '../lib/errors.ts'
import { listedDays, unrecordedDays, verifyDays } from '../extract/open-ledger.ts'
import { organisationsInLake } from '../lake/layout.ts'
import { rawDays, type RawDay } from '../lake/raw-days.ts'
import { intervalRows, knownRange } from '../lake/intervals.ts'
import {
  damagedLines,
  knownOrganisations,
  readJournal,
  type JournalState,
  type Ledger,
} from '../lake/ledger.ts'
import { lastPlannedDay, readOrganisations } from '../lake/organisations.ts'
import { intervalsWithoutFile, quarantined } from '../lake/quarantine.ts'
import { counted } from '../lib/text.ts'
import { ok, warning, wrong, type Finding } from './finding.ts'

/**
 * Compares the ledger of every organisation with the lake.
 *
 * @param isThorough also reads every file, and verifies its bytes and its rows.
 */
export async function checkLake(dataFolder: string, isThorough: boolean): Promise<Finding[]> {
  const findings: Finding[] = []
  const withLedger = await knownOrganisations(dataFolder)
  for (const orgId of withLedger) {
    const journal = await readJournal(dataFolder, orgId)
    const { intervals, damaged, path } = journal
    const inLake = await rawDays(dataFolder, orgId)
    if (damaged.length > 0) findings.push(warning('ledger', damagedLines(path, damaged)))
    const unrecorded = unrecordedDays(inLake, journal)
    if (unrecorded.length > 0) {
      const message = `${orgId}: the lake has ${counted(unrecorded.length, 'day')}, or newer versions of days, that the ledger does not list: ${listedDays(unrecorded)}`
      findings.push(warning('ledger', message, ADDED_BY_NEXT_RUN))
    }
    findings.push(checkFiles(orgId, intervals, inLake))
    if (isThorough) findings.push(await checkContents(journal, inLake))
    findings.push(await checkDays(dataFolder, orgId, intervals))
  }
  for (const orgId of await organisationsInLake(dataFolder)) {
    if (withLedger.includes(orgId)) continue
    const message = `the lake has days of ${orgId}, but no ledger lists them`
    findings.push(wrong('ledger', ExitCode.partial, message, ADDED_BY_NEXT_RUN))
  }
  return [...findings, ...(await checkQuarantine(dataFolder))]
}

const ADDED_BY_NEXT_RUN = 'The next run, or agent-warehouse build, adds them to the ledger.'

function checkFiles(orgId: string, ledger: Ledger, inLake: readonly RawDay[]): Finding {
  const missing = intervalsWithoutFile(ledger.values(), inLake)
  const files = [...ledger.values()].filter(({ file }) => file !== null).length
  const all = `${orgId}: all ${files} files that the ledger lists exist; --all also reads them`
  if (missing.length === 0) return ok('files', all)
  const message = `${orgId}: ${missing.length} of ${files} files that the ledger lists are missing: ${listedDays(missing)}`
  const hint = 'Restore them, or let the next run request them again.'
  return wrong('files', ExitCode.partial, message, hint)
}

async function checkContents(journal: JournalState, inLake: readonly RawDay[]): Promise<Finding> {
  const { orgId } = journal
  const files = inLake.reduce((sum, { versions }) => sum + versions.length, 0)
  const verification = await verifyDays(inLake, journal)
  const damaged = verification.damaged.filter(({ isGone }) => !isGone)
  const [first] = damaged
  if (first === undefined) return ok('contents', `${orgId}: all ${files} files are unchanged`)
  const message = `${orgId}: ${damaged.length} of ${files} files are damaged: ${listedDays(damaged)} (${first.reason})`
  const hint =
    'agent-warehouse rebuild moves them to quarantine, and the next run requests their days again.'
  return wrong('contents', ExitCode.partial, message, hint)
}

async function checkDays(dataFolder: string, orgId: string, ledger: Ledger): Promise<Finding> {
  const planned = lastPlannedDay(await readOrganisations(dataFolder), orgId)
  const rows = intervalRows(orgId, ledger, knownRange(ledger, planned))
  const gaps = rows.filter(({ status }) => status === 'failed' || status === 'missing')
  if (gaps.length === 0)
    return ok('days', `${orgId}: all ${rows.length} intervals have landed or are empty`)
  const message = `${orgId}: ${gaps.length} of ${rows.length} intervals are missing or failed: ${listedDays(gaps)}`
  const hint = 'agent-warehouse status lists them; the next run requests them again.'
  return warning('days', message, hint)
}

async function checkQuarantine(dataFolder: string): Promise<Finding[]> {
  const files = await quarantined(dataFolder)
  const message = `${files} damaged files are in quarantine`
  const hint = 'They are not used. Inspect them, then delete the folder.'
  return files === 0 ? [] : [warning('quarantine', message, hint)]
}
