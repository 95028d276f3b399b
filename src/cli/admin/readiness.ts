import { fieldOf } from '../../client/index.ts'
import { UsageError } from '../../lib/errors.ts'
import { argument, text, type Entry, type Terminal } from '../command.ts'
import { platformCommand, type Platform } from './platform.ts'
import { fieldsOf, fieldsText, objectOf, served, tableText, timeOf, type Clean } from './render.ts'

const listReadiness = platformCommand({
  examples: {
    '$0 readiness list': 'list all reports, newest first',
    '$0 readiness list --repo repo_api --json': 'list the reports of one repository as raw JSON',
  },
  options: { repo: text('id of a repository: list only its reports') },
  work: (flags, terminal) => async (platform) => {
    const reports = await reportsOf(platform, flags.repo)
    const rows = reports.map(({ value }) => listRow(value))
    return served(reports, tableText(LIST_COLUMNS, rows, terminal))
  },
})

const REPORT = 'f6b097c1-14fb-4742-a07d-95e9a9821581'

const showReadiness = platformCommand({
  examples: {
    '$0 readiness show latest': 'show every criterion of the newest report',
    [`$0 readiness show ${REPORT} --json`]: 'show a report as raw JSON',
  },
  options: { report: argument('id of the report, or latest') },
  work: (flags, terminal) => async (platform) => {
    const wanted = flags.report
    const reports = await reportsOf(platform)
    const report = reports.find(
      ({ value }) => wanted === 'latest' || fieldOf(value, 'reportId') === wanted,
    )
    if (report !== undefined) return { json: report.text, text: reportText(report.value, terminal) }
    const hint = 'agent-warehouse readiness list shows all reports.'
    const among = `among ${reports.length} reports`
    throw new UsageError(`there is no readiness report '${wanted}' ${among}`, { hint })
  },
})

export const readiness: readonly Entry[] = [
  ['list', 'list the reports, newest first', listReadiness],
  ['show <report>', 'show every criterion of a report', showReadiness],
]

/** Every report once, the newest first: the platform promises no order. */
async function reportsOf(platform: Platform, repoId?: string): Promise<Clean[]> {
  if (platform.appUrl === null) {
    throw new UsageError(
      'readiness reports are on the web application host, which is not configured',
      { hint: 'Set AGENT_APP_URL, or app_url of the organisation in agent-warehouse.yaml.' },
    )
  }
  const reports = new Map<unknown, Clean>()
  for await (const { items } of platform.client.readiness.fetchPages({ repoId })) {
    for (const item of items) {
      const report = platform.clean('readiness_reports', item.text)
      const id = fieldOf(report.value, 'reportId')
      if (!reports.has(id)) reports.set(id, report)
    }
  }
  return [...reports.values()].sort((a, b) => createdAt(b) - createdAt(a))
}

function createdAt({ value }: Clean): number {
  const at = fieldOf(value, 'createdAt')
  return typeof at === 'number' ? at : 0
}

const LIST_FIELDS = ['reportId', 'createdAt', 'repoUrl', 'branch', 'commitHash']
const LIST_COLUMNS = 'report_id created_at repo_url branch commit passed of skipped'.split(' ')

function listRow(report: unknown): unknown[] {
  const [id, at, repo, branch, commit] = fieldsOf(report, ...LIST_FIELDS)
  const { passed, evaluated, skipped } = countsOf(report)
  const short = typeof commit === 'string' ? commit.slice(0, 12) : commit
  return [id, timeOf(at), repo, branch, short, passed, evaluated, skipped]
}

function reportText(report: unknown, terminal: Terminal): string {
  const { passed, evaluated, skipped } = countsOf(report)
  const model = fieldOf(report, 'modelUsed')
  const header = fieldsText([
    ['report', fieldOf(report, 'reportId')],
    ['made at', timeOf(fieldOf(report, 'createdAt'))],
    ['repository', fieldOf(report, 'repoUrl')],
    ['branch', fieldOf(report, 'branch')],
    ['commit', fieldOf(report, 'commitHash')],
    ['local changes', fieldOf(report, 'hasLocalChanges')],
    ['unpushed commits', fieldOf(report, 'hasNonRemoteCommits')],
    ['model', fieldOf(model, 'id')],
    ['reasoning effort', fieldOf(model, 'reasoningEffort')],
    ['agent version', fieldOf(report, 'agentVersion')],
    ['applications', Object.keys(objectOf(fieldOf(report, 'apps'))).join(', ') || undefined],
    ['criteria', `${passed} of ${evaluated} passed, ${skipped} skipped`],
  ])
  const rows = criteriaOf(report).map(([id, criterion]) => [
    id,
    fieldOf(criterion, 'numerator') ?? 'skipped',
    ...fieldsOf(criterion, 'denominator', 'rationale'),
  ])
  return `${header}\n${tableText(['criterion', 'passing', 'of', 'rationale'], rows, terminal)}`
}

/** A criterion passes when every application does; one without a numerator was skipped. */
function countsOf(report: unknown): { passed: number; evaluated: number; skipped: number } {
  const criteria = criteriaOf(report).map(([, each]) => fieldsOf(each, 'numerator', 'denominator'))
  const evaluated = criteria.filter(([numerator]) => typeof numerator === 'number')
  const passed = evaluated.filter(([numerator, denominator]) => numerator === denominator)
  const skipped = criteria.length - evaluated.length
  return { passed: passed.length, evaluated: evaluated.length, skipped }
}

function criteriaOf(report: unknown): [string, unknown][] {
  return Object.entries(objectOf(fieldOf(report, 'report'))).sort(([a], [b]) => (a < b ? -1 : 1))
}
