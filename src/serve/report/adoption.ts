import { defineChart } from './chart.ts'
import {
  ABOUT_TEAMS,
  comparedDays,
  comparedName,
  daysAfter,
  inRange,
  inRangeOrAll,
  largest,
  newest,
  inPeriod,
  sum,
  weekText,
} from './view.ts'
import {
  amount,
  counted,
  dayText,
  isResidual,
  missingNote,
  nameText,
  NO_TEAM,
  percent,
  teamText,
} from './words.ts'

export const activeUsers = defineChart({
  id: 'active-users',
  about: 'People active on a day, in its last 7 days, and in its last 30 days',
  compared: 'dashed: the last 7 days',
  metrics: ['weekly_active_users', 'monthly_active_users', 'stickiness'],
  how: 'A person is active on a day with any activity. If the counts of the platform contradict each other (more user days than active people can have in 30 days), no stickiness is shown.',
  columns: {
    day: 'Day',
    daily: 'That day',
    weekly: 'Last 7 days',
    monthly: 'Last 30 days',
    stickiness: 'Stickiness',
    compared: 'Last 7 days, compared period',
  },
  empty: 'No day of activity is known',
  rows: (view) => {
    const days = view.organisation.active_days
    const weekly = new Map(days.map((row) => [row.day, row.weekly]))
    const back = comparedName(view) === null ? null : comparedDays(view)
    return inRange(view, days, ({ day }) => day).map((row) => ({
      ...row,
      compared: back === null ? null : (weekly.get(daysAfter(row.day, -back)) ?? null),
    }))
  },
  finding: (days, view) => {
    // Not known on a day without use after days with use.
    const rows = days.filter(({ daily, weekly }) => daily !== 0 || weekly !== null)
    const first = rows[0]?.weekly ?? null
    const last = rows.at(-1)?.weekly ?? null
    if (last === null) return 'How many people were active in the last 7 days is not known'
    const { day = '' } = rows.at(-1) ?? {}
    const until = day === view.organisation.last_day ? '' : `, to ${dayText(day)}`
    if (first === null || rows.length === 1)
      return `${counted(last, 'person was', 'people were')} active in the last 7 days${until}`
    if (last === first && rows.some(({ weekly }) => weekly !== null && weekly !== last))
      return `Weekly active people stand at ${amount(last)}, as on the first day${until}`
    const verb = last > first ? 'rose' : last < first ? 'fell' : 'stayed'
    const change =
      last === first ? `at ${amount(last)}` : `from ${amount(first)} to ${amount(last)}`
    return `Weekly active people ${verb} ${change} ${inPeriod(view)}${until}`
  },
})

export const teamActivity = defineChart({
  id: 'team-activity',
  isOfOrganisation: false,
  about: 'People of each team who were active in a week',
  metrics: ['active_users'],
  how: `Counted in an ISO week, by the team of the day. Weeks with fewer than five active people are left out; where the teams left out have fewer than five people together, so is the next larger one. ${ABOUT_TEAMS} The latter are not drawn, because the other lines would be too low to read.`,
  columns: { week: 'Week of', team: 'Team', active_users: 'Active people' },
  empty: ({ team }) =>
    `No whole week with five active people of ${team === null ? 'a team' : nameText(team)} is known in the period`,
  rows: (view) =>
    inRange(view, view.organisation.team_weeks, ({ week }) => week).filter(
      ({ team }) => view.team === null || team === view.team,
    ),
  finding: (rows) => {
    const last = newest(rows, ({ week }) => week)
    const named = last.filter(({ team }) => !isResidual(team))
    const most = largest(named.length > 0 ? named : last, ({ active_users }) => active_users)
    if (most === undefined) return 'No team was active'
    const week = `in the week of ${dayText(most.week)}`
    if (most.team === NO_TEAM)
      return `${counted(most.active_users, 'person', 'people')} without a team used agents ${week}`
    return `${teamText(most.team)} had ${counted(most.active_users, 'active person', 'active people')} ${week}`
  },
})

export const usageGroups = defineChart({
  id: 'usage-groups',
  about: 'People by the number of days they were active on, of the last 28',
  how: 'Days with any activity in the last 28 days of data, by person. Heavy use: 12 days and more; moderate: 4 to 11; light: 1 to 3.',
  columns: { active_days: 'Active days', users: 'People' },
  empty: 'No person is known',
  rows: ({ organisation }) => organisation.usage_groups,
  finding: (rows, { organisation }) => {
    const heavy = sum(rows.filter((row) => row.active_days >= 12).map((row) => row.users))
    return `${amount(heavy)} of ${counted(sum(rows.map((row) => row.users)), 'known person', 'known people')} worked with agents on 12 or more of 28 days${missingNote(organisation.users_missing_28d)}`
  },
})

export const lifecycle = defineChart({
  id: 'lifecycle',
  about: 'Active people by week: new, retained and returned; below zero, those who left',
  how: 'New: first activity ever. Retained: active in the week before too. Returned: active before, but not in the week before. Left: active in the week before and not in this one. Only whole weeks after a whole week. At the left edge of history, some of the new people were active before it begins.',
  columns: {
    week: 'Week of',
    active_users: 'Active',
    new_users: 'New',
    retained_users: 'Retained',
    resurrected_users: 'Returned',
    churned_users: 'Left',
    is_left_edge: 'Left edge of history',
  },
  empty: 'For no whole week of the period is it known who joined and who left',
  rows: (view) => inRange(view, view.organisation.lifecycle_weeks, ({ week }) => week),
  finding: (_, view, last) => {
    const { new_users, resurrected_users, churned_users } = last
    if (last.is_left_edge)
      return `In ${weekText(view, last.week)} ${counted(last.active_users, 'person was', 'people were')} active and ${amount(churned_users)} left; the history is too short to say who joined`
    return `In ${weekText(view, last.week)} ${amount(new_users)} joined, ${amount(resurrected_users)} returned and ${amount(churned_users)} left`
  },
})

/** A cohort is judged by the week that many weeks after its first. */
const JUDGED_WEEK = 4

export const retention = defineChart({
  id: 'retention',
  about: 'Share of each week’s new people who were active in each later week',
  metrics: ['retention_week_4'],
  how: 'A cohort is the people whose first activity fell in an ISO week. Those at the left edge of history are pale: some of them began earlier. Incomplete weeks and cohorts under five people are left out; where the cohorts left out of a week have fewer than five people together, so is the next larger one.',
  columns: {
    cohort: 'First week',
    week_number: 'Weeks later',
    cohort_users: 'Cohort',
    active_users: 'Active',
    retention: 'Share',
    is_left_edge: 'Left edge of history',
  },
  empty: 'No whole week of a cohort of five or more people of the last year is known',
  rows: (view) => inRangeOrAll(view, view.organisation.retention_weeks, ({ cohort }) => cohort),
  finding: (rows) => {
    const judged = rows.filter((row) => row.week_number === JUDGED_WEEK && !row.is_left_edge)
    const people = sum(judged.map((row) => row.cohort_users))
    if (people === 0)
      return rows.some((row) => !row.is_left_edge)
        ? 'No cohort shown has a complete fourth week yet'
        : 'No cohort of five or more began after the first weeks of history'
    const share = sum(judged.map((row) => row.active_users)) / people
    return `${percent(share)} of new people are active four weeks later`
  },
})

const SEAT_WORDS: Readonly<Record<string, string>> = {
  active: 'active in 28 days',
  idle: 'idle for 28 days',
  never_used: 'never used',
  unlicensed: 'seen without a licence',
}

export const seats = defineChart({
  id: 'seats',
  about: 'People with a licence, and whether they use it',
  how: 'People in seeds/teams.csv, and people whom the platform has seen. Idle: no activity in the last 28 days. The platform does not serve licences, so they come from the seeds.',
  columns: { status: 'Status', people: 'People' },
  empty: 'No person has a licence in the seeds',
  rows: ({ organisation }) =>
    organisation.seats.map(({ status, people }) => ({
      status: SEAT_WORDS[status] ?? status,
      people,
    })),
  finding: (rows, { organisation }) => {
    const of = (status: string): number =>
      sum(rows.filter((row) => row.status === SEAT_WORDS[status]).map((row) => row.people))
    const unused = of('idle') + of('never_used')
    if (unused + of('active') === 0) return 'No person has a licence in the seeds'
    return unused === 0
      ? 'All people with a licence have used it in the last 28 days'
      : `${counted(unused, 'person', 'people')} with a licence did not use it in the last 28 days${missingNote(organisation.users_missing_28d)}`
  },
})
