import { join } from 'node:path'
import { ExitCode } from '../lib/errors.ts'
import { ledgerOnceOpened } from '../extract/open-ledger.ts'
import { RESOURCES } from '../extract/resources.ts'
import { readRunRecords, type RunRecord } from '../observe/run-record.ts'
import {
  readStatus,
  type BesideStatus,
  type Gap,
  type LimitStatus,
  type OrganisationStatus,
  type ResourceStatus,
  type Status,
} from '../serve/status.ts'
import { readSourceFreshness, type SourceFreshness } from '../serve/freshness.ts'
import { warehousePath } from '../lake/layout.ts'
import { ageText } from '../lib/days.ts'
import { size } from '../lib/text.ts'
import { toSecond } from '../observe/words.ts'
import { configured, dataOptions, defineCommand, jsonOf, jsonOption } from './command.ts'

const LISTED_RUNS = 5
const LISTED_GAPS = 20

export const statusCommand = defineCommand({
  examples: [
    ['$0 status', 'for people'],
    ['$0 status --json', 'for a monitor'],
  ],
  options: { ...dataOptions, ...jsonOption },
  run: async (flags, terminal) => {
    const config = configured(flags, terminal)
    const names = RESOURCES.map(({ name }) => name)
    const { dataFolder } = config
    const status = await readStatus(dataFolder, names, Date.now(), (orgId) =>
      ledgerOnceOpened(dataFolder, orgId),
    )
    const { records } = await readRunRecords(join(dataFolder, 'runs'))
    const isKilled = (run: RunRecord): boolean =>
      run.status === 'running' && run.run_id !== status.running?.runId
    const runs = records
      .slice(-LISTED_RUNS)
      .map((run): RunRecord => (isKilled(run) ? { ...run, status: 'killed' } : run))
      .reverse()
    const freshness = await readSourceFreshness(warehousePath(dataFolder), Date.now())
    const withoutApp = config.hosts().flatMap(({ name, appUrl }) => (appUrl === null ? [name] : []))
    const limits = { rate: config.rate, concurrency: config.concurrency }
    terminal.out(
      flags.json
        ? jsonOf({ ...status, withoutApp, freshness, limits, runs })
        : render(status, withoutApp, freshness, limits, runs),
    )
    return ExitCode.complete
  },
})

function render(
  status: Status,
  withoutApp: readonly string[],
  freshness: readonly SourceFreshness[],
  limits: { readonly rate: number; readonly concurrency: number },
  runs: readonly RunRecord[],
): string {
  const { published, running, left } = status
  return [
    `data folder  ${status.dataFolder}`,
    `published    ${publishedText(published)}`,
    ...(running === null
      ? []
      : [
          `running      run ${running.runId}, process ${running.pid} on ${running.host}, since ${toSecond(running.since)}, last heartbeat ${toSecond(running.heartbeatAt)}`,
        ]),
    ...(left === null
      ? []
      : [
          `left         run ${left.runId}, process ${left.pid} on ${left.host}, last heartbeat ${toSecond(left.heartbeatAt)}; the next run takes over`,
        ]),
    `limits       at most ${limits.rate} requests a second, ${limits.concurrency} at once`,
    ...withoutApp.map(
      (name) => `readiness    not asked for: '${name}' has no application host (AGENT_APP_URL)`,
    ),
    ...freshness
      .filter((each) => each.status !== 'pass')
      .map((each) => `stale        ${each.source}: ${ageText(each.ageSeconds * 1000, each)}`),
    ...status.learned.map((each) => `learned      ${learnedLine(each)}`),
    ...(status.organisations.length === 0 ? ['', 'Nothing has landed yet.'] : []),
    ...status.organisations.flatMap(organisationLines),
    ...(runs.length === 0 ? [] : ['', 'last runs']),
    ...runs.map(
      (run) =>
        `  ${toSecond(run.started_at)}  ${run.command.padEnd(8)} ${run.status.padEnd(13)} ${run.run_id}`,
    ),
    '',
  ].join('\n')
}

function publishedText(published: Status['published']): string {
  if (published === null) return 'nothing yet'
  const { path, at, bytes, asOf, rollback } = published
  const when = asOf === null ? '' : `\n             as it was known at ${toSecond(asOf)}`
  const back =
    rollback === null
      ? ''
      : `\n             warning: rolled back at ${toSecond(rollback.at)} to the file of run ${rollback.to}; the next build brings the present back`
  return `${path}, ${toSecond(at)}, ${size(bytes)}${when}${back}`
}

function learnedLine({ organisation, concurrency, ...limit }: LimitStatus): string {
  const atOnce = `${concurrency} at once`
  if (limit.rate === null) return `${organisation}: no rate limit met, ${atOnce}`
  const how = limit.source === 'headers' ? 'told in headers' : 'measured'
  return `${organisation}: ${limit.rate} requests a second, ${limit.burst} after a rest, ${atOnce}, ${how} ${toSecond(limit.measuredAt ?? '')}`
}

function organisationLines(organisation: OrganisationStatus): string[] {
  const { orgId, firstDay, lastDay, resources, beside } = organisation
  const header = ['', 'landed', 'empty', 'failed', 'missing', 'settled', 'latest']
  const rows = resources.map((each) => [
    each.resource,
    ...[each.landed, each.empty, each.failed, each.missing, each.settled].map(String),
    each.latestDay ?? '-',
  ])
  const gaps = resources.flatMap(({ resource, gaps: all }) =>
    all.map((gap) => gapLine(resource, gap)),
  )
  const notes = resources.flatMap(noteLines)
  return [
    '',
    `organisation ${orgId}, days ${firstDay} to ${lastDay}`,
    ...[header, ...rows].map(
      ([name = '', ...cells]) =>
        `  ${name.padEnd(20)}${cells.map((cell) => cell.padStart(11)).join('')}`,
    ),
    ...(gaps.length === 0 ? ['  no gaps'] : gaps.slice(0, LISTED_GAPS)),
    ...(gaps.length > LISTED_GAPS
      ? [`  and ${gaps.length - LISTED_GAPS} more gaps: --json has them all`]
      : []),
    ...notes,
    ...(beside.length === 0 ? [] : ['', '  beside analytics']),
    ...beside.map(besideLine),
  ]
}

function besideLine({ resource, landed, latestDay, missed, error }: BesideStatus): string {
  const had = latestDay === null ? 'never had' : `new on ${landed} days, last had ${latestDay}`
  const nights = missed.length === 1 ? '1 night' : `${missed.length} nights`
  const gone =
    missed.length === 0 ? '' : `; ${nights} missed for good, the last ${missed.at(-1) ?? ''}`
  return `  ${resource.padEnd(20)} ${had}${gone}${error === null ? '' : `; last: ${error}`}`
}

function noteLines({ resource, suspects, window }: ResourceStatus): string[] {
  const days = suspects.length > 3 ? `${suspects.length} days` : suspects.join(', ')
  return [
    ...(suspects.length === 0
      ? []
      : [`  suspect: ${resource} ${days} came back much smaller; the next run looks again`]),
    ...(window === null
      ? []
      : [
          `  window: ${resource} is asked for ${window.maxDays} ${window.maxDays === 1 ? 'day' : 'days'} at once at most, learned ${toSecond(window.learntAt)}`,
        ]),
  ]
}

function gapLine(resource: string, gap: Gap): string {
  const days = gap.first === gap.last ? gap.first : `${gap.first} to ${gap.last} (${gap.days} days)`
  return `  gap: ${resource} ${days} ${gap.status}${gap.error === null ? '' : `: ${gap.error}`}`
}
