import { MS_PER_DAY, startOf } from '../lib/days.ts'
import type { Organisation } from './organisation.ts'
import { badRequest } from './problems.ts'
import { derive, draw, entry, keyOf, uuidOf } from './random.ts'
import { wholeOf } from './queries.ts'

/** A page has no more than this, whatever is asked. */
const PAGE = 20
const BETWEEN_REPORTS = 5 * MS_PER_DAY

const REPOSITORIES = [
  { id: 'repo_web', url: 'https://code.acme.example/acme/web', apps: ['apps/site', 'apps/admin'] },
  { id: 'repo_api', url: 'https://code.acme.example/acme/api', apps: ['.'] },
  { id: 'repo_data', url: 'https://code.acme.example/acme/data', apps: ['jobs', 'lib', 'tools'] },
] as const

type Repository = (typeof REPOSITORIES)[number]

const CRITERIA = ['lint_config', 'unit_tests_present', 'agents_md', 'build_cmd_doc', 'secret_scan']

interface Report {
  readonly reportId: string
  readonly [field: string]: unknown
}

/**
 * A page of the readiness reports, in an order that means nothing and often
 * with fewer than asked: only an empty page is the end.
 * @throws Refusal 400 for a limit below 1, or an unknown `startAfter`.
 */
export function readinessAnswer(
  { organisation, seed }: { readonly organisation: Organisation; readonly seed: number },
  now: number,
  query: URLSearchParams,
): object {
  const limit = wholeOf(query, 'limit', 1, 999_999_999) ?? PAGE
  const repoId = query.get('repoId')
  const reports = REPOSITORIES.filter(({ id }) => repoId === null || id === repoId)
    .flatMap((repository) => reportsOf(repository, organisation, seed, now))
    .sort((a, b) => (a.reportId < b.reportId ? -1 : 1))
  const from = placeAfter(reports, query.get('startAfter'))
  const size = Math.min(limit, PAGE)
  const fewer = size > 3 ? from % 3 : 0
  return { reports: reports.slice(from, from + size - fewer) }
}

function placeAfter(reports: readonly Report[], startAfter: string | null): number {
  if (startAfter === null) return 0
  const place = reports.findIndex(({ reportId }) => reportId === startAfter)
  if (place < 0) throw badRequest(`startAfter '${startAfter}' is not the id of a report`)
  return place + 1
}

/** One report every five days, from the first day of the history on. */
function reportsOf(
  repository: Repository,
  organisation: Organisation,
  seed: number,
  now: number,
): Report[] {
  const begins = startOf(organisation.firstDay)
  const place = REPOSITORIES.indexOf(repository)
  const createdAt = (index: number): number =>
    begins + index * BETWEEN_REPORTS + place * MS_PER_DAY + 9 * 3_600_000
  const reports: Report[] = []
  for (let index = 0; createdAt(index) <= now; index += 1) {
    const key = keyOf(seed, 'report', index * REPOSITORIES.length + place)
    reports.push(reportOf(repository, key, index, createdAt(index)))
  }
  return reports
}

/** Reports get better with time; every third has none of the optional fields. */
function reportOf(repository: Repository, key: number, index: number, createdAt: number): Report {
  const plain = {
    reportId: uuidOf(key),
    createdAt,
    repoUrl: repository.url,
    apps: Object.fromEntries(
      repository.apps.map((path) => [path, { description: `What is in ${path}` }]),
    ),
    report: Object.fromEntries(
      CRITERIA.map((criterion, place) => [
        criterion,
        evaluationOf(repository.apps.length, derive(key, place), index),
      ]),
    ),
  }
  if (index % 3 === 2) return plain
  return {
    ...plain,
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

/** A numerator of null: the criterion was skipped. */
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
