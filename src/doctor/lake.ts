import { ExitCode } from '../core/errors.ts'
import { RESOURCES } from '../extract/resources.ts'
import { proveVersions } from '../extract/versions.ts'
import { organisationsInLake, rawDays, rawFolder, versionsIn } from '../store/lake.ts'
import { intervalRows, knownRange } from '../store/intervals.ts'
import { damagedLines, knownOrganisations, readJournal, type Ledger } from '../store/ledger.ts'
import { lastPlannedDay, readOrganisations } from '../store/organisations.ts'
import { damageOf, intervalsWithoutFile, quarantined, type RawFile } from '../store/quarantine.ts'
import { ok, warning, wrong, type Finding } from './finding.ts'

const LISTED = 3

/**
 * The ledger of every organisation against the lake.
 *
 * @param isThorough also reads every file, and proves its bytes and its rows.
 */
export async function checkLake(dataFolder: string, isThorough: boolean): Promise<Finding[]> {
  const findings: Finding[] = []
  const withLedger = await knownOrganisations(dataFolder)
  for (const orgId of withLedger) {
    const { intervals, damaged, path } = await readJournal(dataFolder, orgId)
    if (damaged.length > 0) findings.push(warning('ledger', damagedLines(path, damaged)))
    findings.push(await checkFiles(dataFolder, orgId, intervals))
    if (isThorough) findings.push(await checkContents(dataFolder, orgId, intervals))
    findings.push(await checkDays(dataFolder, orgId, intervals))
  }
  for (const orgId of await organisationsInLake(dataFolder)) {
    if (withLedger.includes(orgId)) continue
    const message = `the lake holds days of ${orgId}, and no ledger tells of them`
    findings.push(wrong('ledger', ExitCode.partial, message, REBUILD))
  }
  return [...findings, ...(await checkQuarantine(dataFolder))]
}

const REBUILD = 'Make it anew from the lake: agent-warehouse rebuild.'

async function checkFiles(dataFolder: string, orgId: string, ledger: Ledger): Promise<Finding> {
  const lost = await intervalsWithoutFile(dataFolder, orgId, ledger.values())
  const files = [...ledger.values()].filter(({ file }) => file !== null).length
  if (lost.length === 0)
    return ok('files', `${orgId}: all ${files} that the ledger names are there`)
  const message = `${orgId}: ${lost.length} of ${files} that the ledger names are not in the lake: ${listed(lost)}`
  return wrong('files', ExitCode.partial, message, 'Restore them, or let the next run ask again.')
}

async function checkContents(dataFolder: string, orgId: string, ledger: Ledger): Promise<Finding> {
  const files: RawFile[] = []
  for (const { resource, day } of await rawDays(dataFolder, orgId)) {
    const versions = await versionsIn(rawFolder(dataFolder, orgId, resource, day))
    files.push(...versions.map((file) => ({ resource, day, file })))
  }
  const { damaged } = await proveVersions(dataFolder, orgId, files)
  const bad = new Map(damaged.map((each) => [`${each.resource}/${each.day}/${each.file}`, each]))
  for (const { resource, day, file, sha256 } of ledger.values()) {
    if (file === null || sha256 === null) continue
    const damage = await damageOf(dataFolder, orgId, { resource, day, file }, sha256)
    if (damage !== undefined && !damage.isGone) bad.set(`${resource}/${day}/${file}`, damage)
  }
  if (bad.size === 0)
    return ok('contents', `${orgId}: all ${files.length} files are as they landed`)
  const [first] = bad.values()
  const message = `${orgId}: ${bad.size} of ${files.length} files are damaged: ${listed([...bad.values()])} (${first?.reason ?? ''})`
  return wrong(
    'contents',
    ExitCode.partial,
    message,
    'agent-warehouse rebuild takes them out, and the next run asks for their days again.',
  )
}

async function checkDays(dataFolder: string, orgId: string, ledger: Ledger): Promise<Finding> {
  const planned = lastPlannedDay(await readOrganisations(dataFolder), orgId)
  const names = RESOURCES.map(({ name }) => name)
  const rows = intervalRows(orgId, ledger, names, knownRange(ledger, planned))
  const gaps = rows.filter(({ status }) => status === 'failed' || status === 'missing')
  if (gaps.length === 0)
    return ok('days', `${orgId}: all ${rows.length} intervals have been answered`)
  const message = `${orgId}: ${gaps.length} of ${rows.length} intervals are lacking: ${listed(gaps)}`
  return warning('days', message, 'agent-warehouse status lists them; the next run asks again.')
}

async function checkQuarantine(dataFolder: string): Promise<Finding[]> {
  const files = await quarantined(dataFolder)
  if (files === 0) return []
  const message = `${files} damaged files were taken out of the lake`
  return [
    warning('quarantine', message, `Nothing reads them: look at them, then delete the folder.`),
  ]
}

function listed(days: readonly { readonly resource: string; readonly day: string }[]): string {
  const shown = days.slice(0, LISTED).map(({ resource, day }) => `${resource} ${day}`)
  return days.length > LISTED ? `${shown.join(', ')} …` : shown.join(', ')
}
