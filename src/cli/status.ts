import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { ledgerOnceOpened } from '../extract/open-ledger.ts'
import { ended, readRunRecords } from '../observe/run-record.ts'
import {
  readStatus,
  type EntityStatus,
  type Gap,
  type LimitStatus,
  type OrganisationStatus,
  type ResourceStatus,
  type Status,
} from '../serve/status.ts'
import { readSourceFreshness } from '../serve/warehouse.ts'
import { warehousePath } from '../lake/layout.ts'
import { readOrganisations } from '../lake/organisations.ts'
import type { LeaseStatus } from '../lib/lock.ts'
import { addDays, ageText, dayOf } from '../lib/days.ts'
import { grouped } from '../lib/grouped.ts'
import { size, quotedNames, counted, errorPattern, oneLine } from '../lib/text.ts'
import { firstLines, toSecond } from '../observe/words.ts'
import { dataCommand, jsonOption, type Flags } from './command.ts'
import { organisationsOf, orgOption } from './options.ts'

const LISTED_RUNS = 5
const LISTED_GAPS = 20

/** The commands that load every configured organisation. */
const LOADING = new Set(['run', 'sync'])

export const statusCommand = dataCommand({
  examples: {
    '$0 status': 'show everything; of many organisations, totals and those with problems',
    '$0 status --org acme': 'show one of many organisations in full',
    '$0 status --json': 'write JSON, for a monitor',
  },
  options: { ...orgOption, ...jsonOption },
  run:
    (flags, { err }) =>
    async (config) => {
      const warn = (message: string): void => {
        err(`warning: ${message}\n`)
      }
      const report = await reportOf(flags, config, warn)
      return { json: report, text: statusText(report) }
    },
})

type Report = Awaited<ReturnType<typeof reportOf>>

async function reportOf(
  flags: Flags<typeof orgOption>,
  config: Config,
  warn: (message: string) => void,
) {
  const { dataFolder, rate, concurrency } = config
  const hosts = config.hosts()
  const organisations = await readOrganisations(dataFolder)
  const known = [...organisations.keys()]
  const names = organisationsOf(flags, [...hosts.map(({ name }) => name), ...known])
  const ledgerOf = (orgId: string) => ledgerOnceOpened(dataFolder, orgId)
  const status = await readStatus(dataFolder, Date.now(), ledgerOf, names)
  const shown = hosts.filter(({ name }) => names?.includes(name) ?? true)
  const configured = new Set(hosts.flatMap(({ name }) => organisations.get(name)?.orgId ?? []))
  const isConfigured = (named: string): boolean => hosts.some(({ name }) => name === named)
  const records = await readRunRecords(join(dataFolder, 'runs'), warn, (record) => record)
  const lastRun = records.findLast(
    ({ command, run_id }) => LOADING.has(command) && run_id !== status.running?.runId,
  )
  const isBehind = ({ orgId, name, lastDay }: OrganisationStatus): boolean => {
    if (lastRun === undefined || !configured.has(orgId)) return false
    const { skewMs = 0 } = organisations.get(name ?? '') ?? {}
    return lastDay < addDays(dayOf(Date.parse(lastRun.started_at) + skewMs), -1)
  }
  return {
    ...status,
    organisations: status.organisations.map((each) => ({
      ...each,
      /** Whether it is configured, and the last run did not reach it. */
      isBehind: isBehind(each),
    })),
    /** Of configured names, if any of them is known. */
    learned: status.learned.filter(
      ({ organisation }) => configured.size === 0 || isConfigured(organisation),
    ),
    /** Organisations whose readiness reports are not requested. */
    withoutApp: shown.flatMap(({ name, appUrl }) => (appUrl === null ? [name] : [])),
    /** Configured organisations that never answered, if there are several. */
    neverMet:
      shown.length < 2 ? [] : shown.flatMap(({ name }) => (known.includes(name) ? [] : [name])),
    /**
     * Ids in the data folder that no configured name stands for; empty if none of them is
     * configured.
     */
    notConfigured:
      configured.size === 0
        ? []
        : status.organisations.flatMap(({ orgId }) => (configured.has(orgId) ? [] : [orgId])),
    freshness: await readSourceFreshness(warehousePath(dataFolder), Date.now()),
    limits: { rate, concurrency },
    runs: records
      .slice(-LISTED_RUNS)
      .map((run) => (run.run_id === status.running?.runId ? run : ended(run)))
      .reverse(),
  }
}

function statusText(report: Report): string {
  const { published, running, left, limits, withoutApp, neverMet, notConfigured } = report
  const { freshness, organisations, runs } = report
  const isMany = organisations.length > IN_FULL
  const learned = report.learned.filter(({ rate }) => rate !== null || !isMany)
  const line = (label: string, value: string): string => `${label.padEnd(12)} ${value}`
  return [
    line('data folder', report.dataFolder),
    line('published', publishedText(published)),
    ...(running === null ? [] : [line('running', holderText(running, running.since))]),
    ...(left === null ? [] : [line('unfinished', `${holderText(left)}; the next run continues`)]),
    line('limits', `at most ${limits.rate} requests a second, ${limits.concurrency} at once`),
    ...(withoutApp.length === 0
      ? []
      : [line('readiness', `${NO_APP}: ${quotedNames(withoutApp)}`)]),
    ...freshness
      .filter((each) => each.status !== 'pass')
      .map((each) => line('stale', `${each.source}: ${ageText(each.ageSeconds * 1000, each)}`)),
    ...firstLines(
      learned.map((each) => line('learned', learnedText(each))),
      IN_FULL,
      (more) => line('', `and of ${counted(more, 'more organisation')}`),
    ),
    ...(organisations.length === 0 ? ['', 'Nothing has landed yet.'] : []),
    ...(organisations.length > 1
      ? ['', `${counted(organisations.length, 'organisation')} in all`, ...daysTable(report.sum)]
      : []),
    ...(isMany ? troubleLines(organisations) : organisations.flatMap(organisationLines)),
    ...(neverMet.length === 0 ? [] : ['', `never answered: ${quotedNames(neverMet)}`]),
    ...(notConfigured.length === 0
      ? []
      : ['', `not configured, so not loaded any more: ${quotedNames(notConfigured)}`]),
    ...(runs.length === 0 ? [] : ['', 'last runs']),
    ...runs.map(
      (run) =>
        `  ${toSecond(run.started_at)}  ${run.command.padEnd(8)} ${run.status.padEnd(13)} ${run.run_id}`,
    ),
    '',
  ].join('\n')
}

const IN_FULL = 5

const NO_APP = 'not requested without a web application host (AGENT_APP_URL)'

type Organisation = Report['organisations'][number]

function troubleLines(organisations: readonly Organisation[]): string[] {
  const troubled = organisations.filter((each) => troubleOf(each) !== '')
  const others = organisations.filter((each) => !troubled.includes(each))
  const lacking = others.filter((each) => entityTroubleOf(each) !== '')
  const well = counted(others.length - lacking.length, 'organisation')
  return [
    '',
    ...alikeLines(troubled, 'with problems', troubleOf),
    ...alikeLines(lacking, 'with problems of entity resources only', entityTroubleOf),
    `${well} without problems; status --org <name> shows one in full`,
  ]
}

/** One line for organisations with the same problem, in the words of the first. */
function alikeLines(
  organisations: readonly Organisation[],
  what: string,
  textOf: (organisation: Organisation) => string,
): string[] {
  if (organisations.length === 0) return []
  const alike = grouped(organisations, (each) => errorPattern(textOf(each))).values()
  const lines = [...alike].map((group) => {
    const names = group.map(({ name, orgId }) => name ?? orgId)
    return `  ${quotedNames(names)}: ${textOf(group[0])}`
  })
  return [
    `${counted(organisations.length, 'organisation')} ${what}`,
    ...firstLines(lines, LISTED_GAPS, (more) => `  and ${more} more: --json has them all`),
  ]
}

/** The problems of an organisation's analytics, on one line; empty if there are none. */
function troubleOf(organisation: Organisation): string {
  const { resources } = organisation
  const total = (of: (each: ResourceStatus) => number): number =>
    resources.reduce((sum, each) => sum + of(each), 0)
  const failed = total((each) => each.failed)
  const missing = total((each) => each.missing)
  const pending = total((each) => each.suspects.length)
  const [error] = resources.flatMap(({ gaps }) => gaps.flatMap((gap) => gap.error ?? []))
  const parts = [
    ...behindText(organisation),
    failed > 0 && `${counted(failed, 'interval')} failed`,
    missing > 0 && `${counted(missing, 'interval')} missing`,
    pending > 0 && `${counted(pending, 'interval')} pending`,
    error ?? false,
  ].filter((each) => each !== false)
  return oneLine(parts.join(', '))
}

function entityTroubleOf({ entities }: Organisation): string {
  const [failed] = entities.filter(({ error }) => error !== null)
  return failed === undefined ? '' : oneLine(`${failed.resource}: ${failed.error ?? ''}`)
}

function behindText({ isBehind, lastDay }: Organisation): string[] {
  return isBehind ? [`not loaded after ${lastDay}`] : []
}

function holderText({ runId, pid, host, heartbeatAt }: LeaseStatus, since?: string): string {
  const began = since === undefined ? '' : `since ${toSecond(since)}, `
  return `run ${runId}, process ${pid} on ${host}, ${began}last heartbeat ${toSecond(heartbeatAt)}`
}

function publishedText(published: Status['published']): string {
  if (published === null) return 'nothing'
  const { path, at, bytes, asOf, rollback } = published
  const when = asOf === null ? '' : `\n             as it was known at ${toSecond(asOf)}`
  const back =
    rollback === null
      ? ''
      : `\n             warning: rolled back at ${toSecond(rollback.at)} to the file of run ${rollback.to}; the next build returns to the latest data`
  return `${path}, ${toSecond(at)}, ${size(bytes)}${when}${back}`
}

function learnedText({ organisation, concurrency, ...limit }: LimitStatus): string {
  const atOnce = `${concurrency} at once`
  if (limit.rate === null) return `${organisation}: no rate limit met, ${atOnce}`
  const how = limit.source === 'headers' ? 'reported in headers' : 'measured'
  return `${organisation}: ${limit.rate} requests a second, bursts of ${limit.burst}, ${atOnce}, ${how} ${toSecond(limit.measuredAt ?? '')}`
}

function organisationLines(organisation: Organisation): string[] {
  const { orgId, firstDay, lastDay, resources, entities } = organisation
  const gaps = resources.flatMap(({ resource, gaps: all }) =>
    all.map((gap) => gapLine(resource, gap)),
  )
  return [
    '',
    `organisation ${orgId}, days ${firstDay} to ${lastDay}`,
    ...behindText(organisation).map((text) => `  ${text}`),
    ...daysTable(resources),
    ...(gaps.length === 0 ? ['  no gaps'] : []),
    ...firstLines(
      gaps,
      LISTED_GAPS,
      (more) => `  and ${counted(more, 'more gap')}: --json has them all`,
    ),
    ...resources.flatMap(noteLines),
    ...(entities.length === 0 ? [] : ['', '  entity resources']),
    ...entities.map(entityLine),
  ]
}

function daysTable(resources: readonly Report['sum'][number][]): string[] {
  const header = ['', 'landed', 'empty', 'failed', 'missing', 'settled', 'latest']
  const rows = resources.map((each) => [
    each.resource,
    ...[each.landed, each.empty, each.failed, each.missing, each.settled].map(String),
    each.latestDay ?? '-',
  ])
  return [header, ...rows].map(
    ([name = '', ...cells]) =>
      `  ${name.padEnd(20)}${cells.map((cell) => cell.padStart(11)).join('')}`,
  )
}

function entityLine({ resource, landed, latestDay, missed, error }: EntityStatus): string {
  const fetched =
    latestDay === null
      ? 'never fetched'
      : `changed on ${counted(landed, 'day')}, last fetched ${latestDay}`
  const gone =
    missed.length === 0
      ? ''
      : `; ${counted(missed.length, 'night')} cannot be fetched any more, the last ${missed.at(-1) ?? ''}`
  return `  ${resource.padEnd(20)} ${fetched}${gone}${error === null ? '' : `; last: ${oneLine(error)}`}`
}

function noteLines({ resource, suspects, window }: ResourceStatus): string[] {
  const days = suspects.length > 3 ? `${suspects.length} days` : suspects.join(', ')
  return [
    suspects.length > 0 &&
      `  pending: ${resource} ${days} came back much smaller; the next run rechecks it`,
    window !== null &&
      `  window: ${resource}: at most ${counted(window.maxDays, 'day')} per request, learned ${toSecond(window.learntAt)}`,
  ].filter((each) => each !== false)
}

function gapLine(resource: string, gap: Gap): string {
  const days = gap.first === gap.last ? gap.first : `${gap.first} to ${gap.last} (${gap.days} days)`
  return `  gap: ${resource} ${days} ${gap.status}${gap.error === null ? '' : `: ${oneLine(gap.error)}`}`
}
