import { fieldOf } from '../../client/index.ts'
import { UsageError } from '../../lib/errors.ts'
import { argument, defineCommand, text, type Terminal } from '../command.ts'
import { platformOptions, withPlatform, type Clean, type Platform } from './platform.ts'
import { fieldsText, itemJson, listText, objectOf, tableText, timeOf } from './render.ts'

export const listReadiness = defineCommand({
  examples: [
    ['$0 readiness list', 'every report, the newest first'],
    ['$0 readiness list --repo repo_api --json', 'of one repository, as served'],
  ],
  options: { ...platformOptions, repo: text('the id of a repository: its reports alone') },
  run: (flags, terminal) =>
    withPlatform(flags, terminal, {}, async (platform) => {
      const reports = await reportsOf(platform, flags.repo)
      return listText(reports, flags, (values) =>
        tableText(LIST_COLUMNS, values.map(listRow), terminal),
      )
    }),
})

export const showReadiness = defineCommand({
  examples: [
    ['$0 readiness show latest', 'every criterion of the newest report'],
    ['$0 readiness show f6b097c1-14fb-4742-a07d-95e9a9821581 --json', 'as served'],
  ],
  options: { ...platformOptions, report: argument('its id, or latest') },
  run: ({ report: wanted, ...flags }, terminal) =>
    withPlatform(flags, terminal, {}, async (platform) => {
      const reports = await reportsOf(platform)
      const report = reports.find(
        ({ value }) => wanted === 'latest' || fieldOf(value, 'reportId') === wanted,
      )
      if (report !== undefined) {
        return flags.json ? itemJson(report.text) : showText(report, terminal)
      }
      throw new UsageError(
        `there is no readiness report '${wanted}' among ${reports.length} reports`,
        { hint: 'agent-warehouse readiness list shows the reports that there are.' },
      )
    }),
})

const LIST_COLUMNS = [
  'report_id',
  'created_at',
  'repo_url',
  'branch',
  'commit',
  { number: 'passed' },
  { number: 'of' },
  { number: 'skipped' },
]

/** Every report once, the newest first: the platform promises no order. */
async function reportsOf(platform: Platform, repoId?: string): Promise<Clean[]> {
  const reports = new Map<unknown, Clean>()
  const query = repoId === undefined ? {} : { repoId }
  for await (const { items } of platform.client.readiness.fetchPages(query)) {
    for (const item of items) {
      const report = platform.clean('readiness_reports', item)
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

function listRow(value: unknown): unknown[] {
  const { passed, evaluated, skipped } = countsOf(value)
  return [
    fieldOf(value, 'reportId'),
    timeOf(fieldOf(value, 'createdAt')),
    fieldOf(value, 'repoUrl'),
    fieldOf(value, 'branch'),
    shortCommit(fieldOf(value, 'commitHash')),
    passed,
    evaluated,
    skipped,
  ]
}

function showText({ value }: Clean, terminal: Terminal): string {
  const { passed, evaluated, skipped } = countsOf(value)
  const model = fieldOf(value, 'modelUsed')
  const header = fieldsText([
    ['report', fieldOf(value, 'reportId')],
    ['made at', timeOf(fieldOf(value, 'createdAt'))],
    ['repository', fieldOf(value, 'repoUrl')],
    ['branch', fieldOf(value, 'branch')],
    ['commit', fieldOf(value, 'commitHash')],
    ['local changes', fieldOf(value, 'hasLocalChanges')],
    ['unpushed commits', fieldOf(value, 'hasNonRemoteCommits')],
    ['model', fieldOf(model, 'id')],
    ['reasoning effort', fieldOf(model, 'reasoningEffort')],
    ['agent version', fieldOf(value, 'agentVersion')],
    ['applications', Object.keys(objectOf(fieldOf(value, 'apps'))).join(', ') || undefined],
    ['criteria', `${passed} of ${evaluated} passed, ${skipped} skipped`],
  ])
  const rows = criteriaOf(value).map(([id, criterion]) => [
    id,
    fieldOf(criterion, 'numerator') ?? 'skipped',
    fieldOf(criterion, 'denominator'),
    fieldOf(criterion, 'rationale'),
  ])
  const columns = ['criterion', { number: 'passing' }, { number: 'of' }, 'rationale']
  return `${header}\n${tableText(columns, rows, terminal)}`
}

/** A criterion passes when every application does; one without a numerator was skipped. */
function countsOf(report: unknown): { passed: number; evaluated: number; skipped: number } {
  const criteria = criteriaOf(report).map(([, criterion]) => criterion)
  const evaluated = criteria.filter((each) => typeof fieldOf(each, 'numerator') === 'number')
  const passed = evaluated.filter(
    (each) => fieldOf(each, 'numerator') === fieldOf(each, 'denominator'),
  )
  return {
    passed: passed.length,
    evaluated: evaluated.length,
    skipped: criteria.length - evaluated.length,
  }
}

function criteriaOf(report: unknown): [string, unknown][] {
  return Object.entries(objectOf(fieldOf(report, 'report'))).sort(([a], [b]) => (a < b ? -1 : 1))
}

function shortCommit(hash: unknown): unknown {
  return typeof hash === 'string' ? hash.slice(0, 12) : hash
}
