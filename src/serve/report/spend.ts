import { defineChart } from './chart.ts'
import type { Row } from './data.ts'
import {
  ABOUT_TEAMS,
  inRange,
  missingDays,
  newest,
  inPeriod,
  ratio,
  shareOf,
  sum,
  teamsOf,
  totals,
  weekText,
} from './view.ts'
import {
  amount,
  change,
  counted,
  dayText,
  isResidual,
  listText,
  missingNote,
  monthText,
  nameText,
  percent,
  sameDays,
  teamText,
} from './words.ts'

export const monthSpend = defineChart({
  id: 'month-spend',
  about: 'Credits from the first of the month to each day: this month and the two before it',
  metrics: ['credits'],
  how: 'Added up day by day from the first of each month. An earlier month in which the history begins is left out. In the title, two months are compared on the days whose credits are known in both, and the credits of each person with a limit are expected to continue as on the known days.',
  columns: { month: 'Month', day_of_month: 'Day', billable_tokens: 'Credits since the 1st' },
  empty: 'No credits are known',
  rows: ({ organisation }) => organisation.month_days,
  finding: (_, { organisation }, last) => {
    const unknown = organisation.unknown_days.filter(
      ({ day, source }) =>
        (source === 'tokens' || source === 'billable_tokens') && day.startsWith(last.month),
    )
    const { first_day: first } = organisation
    const since = first !== null && first > `${last.month}-01` ? ` since ${dayText(first)}` : ''
    const spent = `${monthText(last.month)} stands at ${amount(last.billable_tokens)} credits${since}${missingNote(unknown.length)}`
    const [both] = organisation.compared_month
    const changed = both ? change(both.billable_tokens, both.previous_billable_tokens) : null
    const compared =
      both === undefined || changed === null
        ? spent
        : `${spent}, ${changed} on ${sameDays(both.compared_days, both.previous_month)}`
    const limits = organisation.limits.find(({ month }) => month === last.month)
    return limits === undefined ? compared : `${compared}${limitsText(limits)}`
  },
})

export const modelSpend = defineChart({
  id: 'model-spend',
  about: 'Credits by week and model',
  metrics: ['model_credits'],
  how: 'Models after the first seven are combined. Only whole weeks.',
  columns: { week: 'Week of', model: 'Model', billable_tokens: 'Credits' },
  empty: 'No whole week with credits of models is known in the period',
  rows: (view) => inRange(view, view.organisation.model_weeks, ({ week }) => week),
  finding: (rows) => {
    if (rows.every((row) => row.billable_tokens === null))
      return 'The credits of models are not known'
    const all = sum(rows.map((row) => row.billable_tokens))
    if (all === 0) return 'No credits were spent'
    const weeks = counted(new Set(rows.map(({ week }) => week)).size, 'whole week')
    const [top] = byName(rows.map((row) => [row.model, row.billable_tokens])).filter(
      ([model]) => !isResidual(model),
    )
    if (top === undefined) return `${amount(all)} credits are attributed to no model in ${weeks}`
    const isWhole = rows.every((row) => (row.billable_tokens ?? 0) >= 0)
    const share = isWhole ? shareOf(top[1], all) : null
    return `${nameText(top[0])} took ${creditsText(share, top[1])} in ${weeks}`
  },
})

export const teamSpend = defineChart({
  id: 'team-spend',
  isOfOrganisation: false,
  about: 'Credits by team; the table has active people too',
  compared: 'the line: credits',
  metrics: ['team_credits'],
  how: `${ABOUT_TEAMS} The latter have no bar, because the others would be too short to read. Left out are credits that no person is named for, and teams with fewer than five active people in the period, or in a part of it that another period also covers; where these teams have fewer than five people together, so is the next larger one. Teams have no share of the credits where they have more together than the platform counts for the organisation, or where days are missing. They are not compared where days of their people are missing.`,
  columns: {
    team: 'Team',
    billable_tokens: 'Credits',
    active_users: 'Active people',
    credits_per_user: 'Credits per person',
    compared: 'Credits, compared period',
  },
  empty: 'No team with five active people is known',
  rows: (view) => {
    const { now, before } = missingDays({ ...view, team: null }, ['users'])
    const isCompared = now + before === 0
    return teamsOf(view).map(({ team, billable_tokens, active_users }) => ({
      team: team ?? '',
      billable_tokens,
      active_users,
      credits_per_user: ratio(billable_tokens, active_users),
      compared: isCompared ? (totals({ ...view, team }).before?.billable_tokens ?? null) : null,
    }))
  },
  finding: (rows, view) => {
    const most = rows.find(({ team }) => !isResidual(team)) ?? rows[0]
    if (most === undefined || most.billable_tokens === null)
      return 'The credits of teams are not known'
    const whole = { ...view, team: null }
    const all = totals(whole).now?.billable_tokens ?? 0
    const note = missingNote(missingDays(whole, ['users']).now)
    const used = sum(rows.map((row) => row.billable_tokens))
    if (used === 0) return `No team spent credits ${inPeriod(view)}${note}`
    // the credits of teams come from users, those of the organisation from tokens
    const isPart =
      missingDays(whole, ['users', 'tokens', 'billable_tokens']).now === 0 &&
      shareOf(used, all) !== null
    const share = isPart ? shareOf(most.billable_tokens, all) : null
    return `${teamText(most.team)} used ${creditsText(share, most.billable_tokens)} ${inPeriod(view)}${note}`
  },
})

export const concentration = defineChart({
  id: 'concentration',
  about: 'Share of the credits used by the people who use most, by month',
  how: 'People are ordered by their credits of a month, the highest first. Each point stands for at least five people; months with fewer than ten are left out. A steep curve means that few people use most. A month in which a person has credits below zero has no curve.',
  columns: {
    month: 'Month',
    share_of_users: 'Share of people',
    share_of_credits: 'Share of credits',
  },
  empty: 'No month with ten people is known',
  rows: ({ organisation }) => organisation.concentration,
  finding: (rows) => {
    const fromTenth = ({ share_of_users: share }: Row<'concentration'>) => Math.abs(share - 0.1)
    const [top] = newest(rows, ({ month }) => month).sort((a, b) => fromTenth(a) - fromTenth(b))
    if (top === undefined) return ''
    return `${percent(top.share_of_users)} of the people used ${percent(top.share_of_credits)} of the credits of ${monthText(top.month)}`
  },
})

export const cache = defineChart({
  id: 'cache',
  about: 'Share of all input tokens that were read from the cache, by week',
  metrics: ['cache_share'],
  how: 'Only whole weeks, and only their days with all of these numbers. The platform serves them only for the whole organisation. A week has no share if more tokens were read from the cache than were input on one of its days.',
  columns: { week: 'Week of', share: 'Read from the cache' },
  empty: 'No whole week with tokens of the cache is known in the period',
  rows: (view) => inRange(view, view.organisation.cache_weeks, ({ week }) => week),
  finding: (rows, view, last) => {
    const week = weekText(view, last.week)
    const first = rows[0]?.share ?? null
    if (last.share === null) return `The tokens of the cache contradict the input tokens in ${week}`
    const now = `${percent(last.share)} of input tokens were read from the cache in ${week}`
    return rows.length < 2 || first === null
      ? now
      : `${now}; ${percent(first)} at the start of the period`
  },
})

export const efficiency = defineChart({
  id: 'efficiency',
  about: 'Commits and files per million credits, by week',
  metrics: ['git_commits_per_million_credits'],
  how: 'Files created and edited are also divided by credits. Output per credit says nothing about quality, and must not be used to judge people.',
  columns: {
    week: 'Week of',
    commits: 'Commits per million credits',
    files: 'Files per million credits',
  },
  empty: 'No whole week with output and credits is known in the period',
  rows: (view) =>
    inRange(view, view.organisation.output_weeks, ({ week }) => week).flatMap((row) => {
      const { week, billable_tokens: credits } = row
      if (credits === null || credits === 0) return []
      const each = (value: number | null) => ratio(value, credits / 1e6)
      return [{ week, commits: each(row.git_commits), files: each(row.files) }]
    }),
  finding: (_, view, last) => {
    const made = [
      ...(last.commits === null ? [] : [counted(last.commits, 'commit')]),
      ...(last.files === null ? [] : [counted(last.files, 'file')]),
    ]
    const week = weekText(view, last.week)
    return made.length === 0
      ? `Commits and files per million credits are not known for ${week}`
      : `Each million credits came with ${listText(made)} in ${week}`
  },
})

/** `; 2 people have passed a limit, and at this rate 1 more will` */
function limitsText({ users_past: past, users_over: over }: Row<'limits'>): string {
  const people = (count: number) => counted(count, 'person', 'people')
  const later = over - past
  if (past <= 0) return over === 0 ? '' : `; at this rate ${people(over)} will pass a limit`
  const now = `; ${people(past)} ${past === 1 ? 'has' : 'have'} passed a limit`
  return later <= 0 ? now : `${now}, and at this rate ${amount(later)} more will`
}

/** `40% of the credits`, or without a share `1.2M credits`. */
function creditsText(share: number | null, credits: number | null): string {
  return share === null ? `${amount(credits)} credits` : `${percent(share)} of the credits`
}

/** Names with the sums of their values, the largest first. */
function byName(values: readonly (readonly [string, number | null])[]): [string, number][] {
  const sums = new Map<string, number>()
  for (const [name, value] of values) sums.set(name, (sums.get(name) ?? 0) + (value ?? 0))
  return [...sums].sort((a, b) => b[1] - a[1])
}
