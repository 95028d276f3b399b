import type { Hono } from 'hono'
import { MS_PER_DAY, startOf } from '../lib/days.ts'
import { derive, draw, entry, keyOf, uuidOf } from './random.ts'
import { badRequest, limitIn, type Env, type Platform } from './requests.ts'

/** The highest number of reports on a page, whatever the limit. */
const PAGE = 20
const BETWEEN_REPORTS = 5 * MS_PER_DAY

const REPOSITORIES = [
  { id: 'repo_web', url: 'https://code.acme.example/acme/web', apps: ['apps/site', 'apps/admin'] },
  { id: 'repo_api', url: 'https://code.acme.example/acme/api', apps: ['.'] },
  { id: 'repo_data', url: 'https://code.acme.example/acme/data', apps: ['jobs', 'lib', 'tools'] },
] as const

type Repository = (typeof REPOSITORIES)[number]

const CRITERIA = ['lint_config', 'unit_tests_present', 'agents_md', 'build_cmd_doc', 'secret_scan']

/**
 * Adds the readiness reports: in an arbitrary order and often fewer than requested, so that
 * only an empty page is the last.
 */
export function addReadiness(app: Hono<Env>, platform: Platform): void {
  app.get('/api/organization/maturity-level-reports', (context) => {
    const { repoId, startAfter } = context.req.query()
    const limit = limitIn(context, 999_999_999) ?? PAGE
    const reports = REPOSITORIES.filter(({ id }) => repoId === undefined || id === repoId)
      .flatMap((repository) => reportsOf(repository, platform))
      .sort((a, b) => (a.reportId < b.reportId ? -1 : 1))
    const before = reports.findIndex(({ reportId }) => reportId === startAfter)
    if (startAfter !== undefined && before < 0) {
      throw badRequest(`startAfter '${startAfter}' is not the id of a report`)
    }
    const from = before + 1
    const size = Math.min(limit, PAGE)
    const fewer = size > 3 ? from % 3 : 0
    return context.json({ reports: reports.slice(from, from + size - fewer) })
  })
}

/** One report every five days, from the first day of the history on. */
function reportsOf(repository: Repository, { organisation, seed, now }: Platform) {
  const place = REPOSITORIES.indexOf(repository)
  const first = startOf(organisation.firstDay) + place * MS_PER_DAY + 9 * 3_600_000
  const count = Math.max(0, Math.floor((now() - first) / BETWEEN_REPORTS) + 1)
  return Array.from({ length: count }, (_, index) => {
    const key = keyOf(seed, 'report', index * REPOSITORIES.length + place)
    return reportOf(repository, key, index, first + index * BETWEEN_REPORTS)
  })
}

/** Reports get better with time; every third has none of the optional fields. */
function reportOf({ url, apps }: Repository, key: number, index: number, createdAt: number) {
  return {
    reportId: uuidOf(key),
    createdAt,
    repoUrl: url,
    apps: Object.fromEntries(apps.map((path) => [path, { description: `What is in ${path}` }])),
    report: Object.fromEntries(
      CRITERIA.map((name, place) => [name, evaluationOf(apps.length, derive(key, place), index)]),
    ),
    ...(index % 3 === 2 ? {} : optionalFields(key, index)),
  }
}

function optionalFields(key: number, index: number): object {
  return {
    commitHash: uuidOf(key + 1).replaceAll('-', '') + '00000000',
    branch: 'main',
    hasLocalChanges: index % 2 === 0,
    hasNonRemoteCommits: false,
    modelUsed: {
      id: 'atlas-2-thinking',
      reasoningEffort: entry(['low', 'medium', 'high', 'off'], index % 4),
    },
    agentVersion: `0.${20 + index}.0`,
  }
}

/** The numerator is null if the criterion was skipped. */
function evaluationOf(apps: number, key: number, index: number): object {
  const isSkipped = draw(key, 1) < 0.1
  const passing = Math.min(apps, Math.floor(draw(key, 2) * (apps + 1) + index / 40))
  return {
    numerator: isSkipped ? null : passing,
    denominator: apps,
    rationale: isSkipped
      ? 'Skipped: it does not apply to this repository.'
      : `${passing} of ${apps} pass; “naïve” checks were left out.`,
  }
}
