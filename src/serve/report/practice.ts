import { defineChart } from './chart.ts'
import type { Row } from './data.ts'
import { inRange, inRangeOrAll, largest, newest, sum, weekText, type View } from './view.ts'
import {
  amount,
  capital,
  counted,
  dayText,
  isResidual,
  listText,
  nameText,
  percent,
} from './words.ts'

export const autonomy = defineChart({
  id: 'autonomy',
  about: 'Tool calls per user message, by week',
  metrics: ['autonomy_ratio', 'autonomy_ratio_p50'],
  how: 'The 90th percentile is computed over all user days, like the median.',
  columns: {
    week: 'Week of',
    ratio: 'All together',
    p50: 'Median',
    p90: '90th percentile',
  },
  empty: 'No whole week with tool calls and messages is known in the period',
  rows: (view) => inRange(view, view.organisation.autonomy_weeks, ({ week }) => week),
  finding: (rows, view, last) => {
    const week = weekText(view, last.week)
    if (last.ratio === null) return `Tool calls per message are not known for ${week}`
    const now = `Agents made ${counted(last.ratio, 'tool call')} per message in ${week}`
    const first = rows[0]?.ratio ?? null
    return rows.length < 2 || first === null
      ? now
      : `${now}; ${amount(first)} at the start of the period`
  },
})

export const autonomyLevels = defineChart({
  id: 'autonomy-levels',
  about: 'Share of tool calls at each level of autonomy, by week',
  how: 'The daily shares that the platform serves, weighted by the tool calls of the day. A week whose shares add up to more than all calls has none.',
  columns: { week: 'Week of', level: 'Level', share: 'Share of tool calls' },
  empty: 'No whole week with levels of autonomy is known in the period',
  rows: (view) => inRange(view, view.organisation.autonomy_levels, ({ week }) => week),
  finding: (rows, view) => {
    const most = largest(
      newest(rows, ({ week }) => week),
      ({ share }) => share,
    )
    if (most === undefined) return ''
    const week = weekText(view, most.week)
    return most.share === null
      ? `No share of a level of autonomy is known for ${week}`
      : `${percent(most.share)} of tool calls ran at ${nameText(most.level)} in ${week}`
  },
})

export const tools = defineChart({
  id: 'tools',
  about: 'Calls of the 12 most used tools',
  metrics: ['tool_calls'],
  how: 'Tool names are cleaned. Calls whose name cannot be read are combined as “(unparsed)”. Shares are of all calls.',
  columns: { name: 'Tool', invocations: 'Calls', share: 'Share of calls' },
  empty: 'No call of a tool is known',
  rows: (view) => ofKind(view, 'tool'),
  finding: (rows) => mostUsed(rows, 'tool'),
})

export const servers = defineChart({
  id: 'servers',
  about: 'Calls of the 12 most used MCP servers',
  metrics: ['mcp_calls'],
  how: 'Each server is shown under its most used spelling.',
  columns: { name: 'MCP server', invocations: 'Calls', share: 'Share of calls' },
  empty: 'No call of an MCP server is known',
  rows: (view) => ofKind(view, 'server'),
  finding: (rows) => mostUsed(rows, 'MCP server'),
})

function ofKind({ organisation, days }: View, kind: 'tool' | 'server') {
  return organisation.tools
    .filter((row) => row.kind === kind && row.days === days)
    .map(({ name, invocations, share, names }) => ({ name, invocations, share, names }))
}

function mostUsed(rows: Readonly<ReturnType<typeof ofKind>>, kind: string): string {
  const first = rows.find(({ name }) => !isResidual(name))
  if (first === undefined) return `No call has the name of a known ${kind}`
  const most = `${nameText(first.name)} is the most used of ${counted(first.names, kind)}`
  return first.share === null ? most : `${most}: ${percent(first.share)} of calls`
}

export const clients = defineChart({
  id: 'clients',
  about: 'People per day with each client, weekly mean',
  how: 'The daily users of a client, averaged over the seven days of a week. A person with two clients counts for both, so clients must not be added up.',
  columns: { week: 'Week of', client: 'Client', daily_users: 'People per day' },
  empty: 'No whole week with clients is known in the period',
  rows: (view) => inRange(view, view.organisation.client_weeks, ({ week }) => week),
  finding: (rows, view) => {
    const last = newest(rows, ({ week }) => week)
    const most = largest(last, ({ daily_users }) => daily_users)
    if (most === undefined) return ''
    const week = weekText(view, most.week)
    const isUnknown = last.some(({ daily_users }) => daily_users === null)
    if (most.daily_users === null || (most.daily_users === 0 && isUnknown))
      return `How many people used a client is not known for ${week}`
    if (most.daily_users === 0) return `No person used a client in ${week}`
    return `${nameText(most.client)} is used by the most people: ${amount(most.daily_users)} a day on average in ${week}`
  },
})

export const output = defineChart({
  id: 'output',
  about: 'Commits, pull requests and files by week',
  metrics: ['git_commits', 'git_prs_created'],
  how: 'Files are those created and edited by agents. A week has no number that one of its days lacks. The platform serves no lines of code.',
  columns: {
    week: 'Week of',
    git_commits: 'Commits',
    git_prs_created: 'Pull requests',
    files: 'Files',
  },
  empty: 'No whole week with output is known in the period',
  rows: (view) => inRange(view, view.organisation.output_weeks, ({ week }) => week),
  finding: (_, _view, last) => {
    const { git_commits: commits, git_prs_created: requests } = last
    const made = [
      ...(commits === null ? [] : [counted(commits, 'commit')]),
      ...(requests === null ? [] : [counted(requests, 'pull request')]),
    ]
    const week = `the week of ${dayText(last.week)}`
    return made.length === 0
      ? `Commits and pull requests of ${week} are not known`
      : `Agents made ${listText(made)} in ${week}`
  },
})

export const readiness = defineChart({
  id: 'readiness',
  about: 'Share of readiness criteria that pass, by repository and day of report',
  how: 'Passing evaluations divided by all evaluations of the reports of a day; skipped criteria and reports without a date do not count. Where a criterion passes more often than it was evaluated, there is no share.',
  columns: {
    day: 'Day',
    repository: 'Repository',
    passing: 'Passing',
    evaluated: 'Evaluated',
    pass_rate: 'Share',
  },
  empty: 'No readiness report is known',
  rows: (view) => inRangeOrAll(view, view.organisation.readiness, ({ day }) => day),
  finding: (rows) => {
    const repositories = new Map(rows.map((row) => [row.repository, row]))
    const last = [...repositories.values()]
    const known = last.filter((row) => row.pass_rate !== null)
    const others = last.length - known.length
    const share = sum(known.map((row) => row.passing)) / sum(known.map((row) => row.evaluated))
    const texts = [
      known.length === 0
        ? null
        : `${percent(share)} of criteria pass in the newest reports of ${repositoriesText(known.length)}`,
      others === 0 ? null : `the numbers of ${repositoriesText(others)} contradict each other`,
    ]
    return capital(texts.filter((text) => text !== null).join('; '))
  },
})

type Repository = Pick<Row<'readiness'>, 'repository'>

/** The last two parts of `host/organisation/repository`; all of it where others have the same. */
export function shortNames(shown: readonly Repository[]): (row: Repository) => string {
  const shortOf = ({ repository }: Repository): string => repository.split('/').slice(-2).join('/')
  const names = shown.map(shortOf)
  return (row) => {
    const short = shortOf(row)
    return names.indexOf(short) === names.lastIndexOf(short) ? short : row.repository
  }
}

function repositoriesText(count: number): string {
  return counted(count, 'repository', 'repositories')
}

export const people = defineChart({
  id: 'people',
  about: 'The 100 people with most credits in 28 days',
  how: 'Person by person, in the last 28 days of data. Not a ranking of work: credits are what the platform bills.',
  columns: {
    person: 'Person',
    usage_group: 'Use',
    active_days: 'Active days',
    billable_tokens: 'Credits',
    sessions: 'Sessions',
    tool_calls: 'Tool calls',
    last_active: 'Last active',
  },
  empty: 'No person spent credits',
  rows: ({ organisation }) => organisation.people,
  finding: ([first]) =>
    `${nameText(first?.person ?? 'No person')} used the most credits in 28 days: ${amount(first?.billable_tokens)}`,
})
