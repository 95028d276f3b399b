import * as Plot from '@observablehq/plot'
import * as adoption from '../adoption.ts'
import * as budget from '../budget.ts'
import type { Row } from '../data.ts'
import * as oversight from '../oversight.ts'
import * as practice from '../practice.ts'
import * as spend from '../spend.ts'
import { areOthers } from '../view.ts'
import { amount, counted, monthText, percent, tickAmount, wholeAmount } from '../words.ts'
import { burnUp, waterfall } from './budget.ts'
import {
  bars,
  COLOURS,
  COMPARED,
  dateOf,
  DAY,
  drawn,
  lines,
  QUIET,
  timeBars,
  WEEK,
  type Draw,
  type Options,
} from './marks.ts'

/** The field of each line, by its name. */
const ACTIVE = {
  'That day': 'daily',
  'Last 7 days': 'weekly',
  'Last 30 days': 'monthly',
  [COMPARED]: 'compared',
} as const
const ERRORS = {
  Forecast: 'error',
  'As last month': 'last_month_error',
  'Straight line': 'straight_line_error',
} as const
const RATIOS = { 'All together': 'ratio', Median: 'p50', '90th percentile': 'p90' } as const
const OUTPUT = {
  Files: 'files',
  Commits: 'git_commits',
  'Pull requests': 'git_prs_created',
} as const

/** The drawing of each chart, by its id. Charts without a drawing are tables. */
export const DRAWINGS: ReadonlyMap<string, Draw> = new Map([
  drawn(adoption.activeUsers, (rows) => ({
    x: time,
    y: people,
    ...lines(DAY, pointsOf(rows, 'day', ACTIVE), Object.keys(ACTIVE)),
  })),
  drawn(adoption.teamActivity, (rows, view) => ({
    x: weeks,
    y: people,
    ...lines(
      WEEK,
      points(
        rows.filter(({ team }) => view.team !== null || !areOthers(team)),
        'week',
        'active_users',
        'team',
      ),
    ),
  })),
  drawn(adoption.lifecycle, (rows) => {
    const names = ['Retained', 'New', 'Returned', 'Left']
    const bars = rows.flatMap((row) => [
      { at: dateOf(row.week), value: row.retained_users, series: 'Retained' },
      { at: dateOf(row.week), value: row.new_users, series: 'New' },
      { at: dateOf(row.week), value: row.resurrected_users, series: 'Returned' },
      { at: dateOf(row.week), value: -row.churned_users, series: 'Left' },
    ])
    return { x: weeks, y: people, ...timeBars(bars, names) }
  }),
  drawn(adoption.retention, (rows) => ({
    height: 68 + 18 * new Set(rows.map(({ cohort }) => cohort)).size,
    marginLeft: 84,
    x: { label: 'Weeks later', domain: weeksOf(rows), tickFormat: everyFourth },
    y: { label: 'First week', type: 'band' },
    color: {
      type: 'threshold',
      domain: [0.2, 0.4, 0.6, 0.8],
      range: [1, 2, 3, 4, 5].map((step) => `var(--heat-${step})`),
      legend: true,
      label: 'Share active',
      tickFormat: percent,
    },
    marks: [
      Plot.cell(rows, {
        x: 'week_number',
        y: 'cohort',
        inset: 0.5,
        fill: 'retention',
        fillOpacity: (row: (typeof rows)[number]) => (row.is_left_edge ? 0.4 : 1),
        title: (row: (typeof rows)[number]) =>
          `${row.cohort}, week ${row.week_number}: ${percent(row.retention)} of ${row.cohort_users}`,
      }),
    ],
  })),
  drawn(adoption.usageGroups, (rows) => ({
    x: { label: 'Active days of 28', domain: days28, tickFormat: everyFourth },
    y: people,
    marks: [
      Plot.barY(rows, {
        x: 'active_days',
        y: 'users',
        inset: 0.5,
        fill: ({ active_days }: (typeof rows)[number]) => (active_days >= 12 ? COLOURS[0] : QUIET),
        title: (row: (typeof rows)[number]) => `${row.active_days} days: ${row.users}`,
      }),
      Plot.ruleY([0]),
    ],
  })),
  drawn(adoption.seats, (rows, _, width) =>
    bars(
      rows.map(({ status, people }) => ({ name: status, value: people, text: amount(people) })),
      'People',
      width,
    ),
  ),
  drawn(spend.monthSpend, (rows) => {
    const months = [...new Set(rows.map(({ month }) => month))]
    return {
      x: { label: 'Day of the month', domain: [1, 31] },
      y: credits,
      ...lines(
        1,
        rows.map((row) => ({
          at: row.day_of_month,
          value: row.billable_tokens,
          series: monthText(row.month),
        })),
        months.map(monthText).reverse(),
      ),
    }
  }),
  drawn(budget.forecast, burnUp),
  drawn(budget.forecastErrors, (rows) => ({
    x: time,
    y: { label: 'Error', grid: true, zero: true, tickFormat: percent },
    ...lines(31 * DAY, pointsOf(rows, 'month', ERRORS), Object.keys(ERRORS), percent),
  })),
  drawn(budget.bridge, (rows, _, width) => waterfall(rows, width)),
  drawn(spend.modelSpend, (rows) => {
    const order = [...new Map(rows.map((row) => [row.model, row.place]))]
    const names = order.sort((a, b) => a[1] - b[1]).map(([name]) => name)
    const values = points(rows, 'week', 'billable_tokens', 'model')
    return { x: weeks, y: credits, ...timeBars(values, names) }
  }),
  drawn(spend.teamSpend, (rows, view, width) =>
    bars(
      rows.map(({ team, billable_tokens: credits, compared }) => {
        const text = amount(credits)
        if (areOthers(team)) return { name: team, value: 0, text: `${text} together, not drawn` }
        const colour = view.team === null || view.team === team ? COLOURS[0] : QUIET
        return { name: team, value: credits ?? 0, text, before: compared, colour }
      }),
      'Credits',
      width,
    ),
  ),
  drawn(spend.concentration, (rows) => {
    const months = [...new Set(rows.map(({ month }) => month))]
    const from = months.map((month) => ({ at: 0, value: 0, series: monthText(month) }))
    return {
      x: { label: 'People, highest credits first', tickFormat: percent },
      y: { ...share, label: 'Credits' },
      ...lines(
        Infinity,
        [
          ...from,
          ...rows.map((row) => ({
            at: row.share_of_users,
            value: row.share_of_credits,
            series: monthText(row.month),
          })),
        ],
        months.map(monthText).reverse(),
        percent,
      ),
    }
  }),
  drawn(spend.cache, (rows) => ({
    x: weeks,
    y: { ...share, label: 'Input tokens' },
    ...lines(WEEK, pointsOf(rows, 'week', { 'From the cache': 'share' }), undefined, percent),
  })),
  drawn(spend.efficiency, (rows) => ({
    x: weeks,
    y: { ...credits, label: 'Per million credits' },
    ...lines(WEEK, pointsOf(rows, 'week', { Files: 'files', Commits: 'commits' })),
  })),
  drawn(practice.autonomy, (rows) => ({
    x: weeks,
    y: { label: 'Tool calls per message', grid: true, zero: true },
    ...lines(WEEK, pointsOf(rows, 'week', RATIOS)),
  })),
  drawn(practice.autonomyLevels, (rows) => {
    const names = [...new Set(rows.map(({ level }) => level))].sort(
      (a, b) => LEVELS.indexOf(a) - LEVELS.indexOf(b) || (a < b ? -1 : 1),
    )
    const values = points(rows, 'week', 'share', 'level')
    return {
      x: weeks,
      y: { ...share, label: 'Tool calls' },
      ...timeBars(values, names, 'week', percent),
    }
  }),
  drawn(practice.tools, (rows, _, width) => bars(rows.map(callsOf), 'Calls', width)),
  drawn(practice.servers, (rows, _, width) => bars(rows.map(callsOf), 'Calls', width)),
  drawn(practice.clients, (rows) => ({
    x: weeks,
    y: { ...people, tickFormat: tickAmount },
    ...lines(WEEK, points(rows, 'week', 'daily_users', 'client')),
  })),
  drawn(practice.output, (rows) => ({
    x: weeks,
    y: { ...count, label: 'In a week' },
    ...lines(WEEK, pointsOf(rows, 'week', OUTPUT)),
  })),
  drawn(practice.readiness, (rows, _, width) => {
    const newest = [...new Map(rows.map((row) => [row.repository, row])).values()]
    if (newest.length > COLOURS.length) return lowest(newest, width)
    const nameOf = practice.shortNames(newest)
    return {
      x: time,
      y: { ...share, label: 'Criteria that pass' },
      ...lines(
        Infinity,
        rows.map((row) => ({ at: dateOf(row.day), value: row.pass_rate, series: nameOf(row) })),
        undefined,
        percent,
      ),
    }
  }),
  drawn(oversight.policy, (rows, _, width) =>
    bars(
      rows.slice(0, LISTED).map(({ name, days, state }) => ({
        ...{ name, value: days },
        text: days === 0 ? state : counted(days, 'day'),
        colour: state === 'used, not allowed' ? COLOURS[1] : QUIET,
      })),
      'Days of use while not allowed',
      width,
    ),
  ),
  drawn(oversight.anomalies, (rows, { organisation: { last_day: last } }) => {
    const names = [...new Set(rows.map(({ kind }) => kind))].sort()
    const values = points(rows, 'day', 'flags', 'kind')
    return {
      x: last === null ? time : { ...time, domain: oversight.judgedSpan(last).map(dateOf) },
      y: { ...count, label: 'Flags' },
      ...timeBars(values, names, 'day'),
    }
  }),
])

/** From the least autonomy to the most; levels that are not among them come first. */
const LEVELS = ['manual', 'auto-low', 'auto-medium', 'auto-high']

/** More bars are unreadable. */
const LISTED = 20

const time: Plot.ScaleOptions = { type: 'utc', label: null }
/** Without the interval, the ticks are Sundays. */
const weeks: Plot.ScaleOptions = { ...time, interval: 'monday' }
const count: Plot.ScaleOptions = { grid: true, zero: true, tickFormat: wholeAmount }
const people: Plot.ScaleOptions = { ...count, label: 'People', nice: true }
const credits: Plot.ScaleOptions = { ...count, label: 'Credits', tickFormat: tickAmount }
const share: Plot.ScaleOptions = { grid: true, domain: [0, 1], tickFormat: percent }
const days28 = Array.from({ length: 29 }, (_, days) => days)

/** A point of each row for each of the lines. */
function pointsOf<At extends string, Field extends string>(
  rows: readonly Readonly<Record<At, string> & Record<Field, number | null>>[],
  at: At,
  fields: Readonly<Record<string, Field>>,
) {
  return rows.flatMap((row) =>
    Object.entries(fields).map(([series, field]) => {
      return { at: dateOf(row[at]), value: row[field], series }
    }),
  )
}

/** A point of each row, by its columns. */
function points<At extends string, Value extends string, Series extends string>(
  rows: readonly Readonly<Record<At | Series, string> & Record<Value, number | null>>[],
  at: At,
  value: Value,
  series: Series,
) {
  return rows.map((row) => ({ at: dateOf(row[at]), value: row[value], series: row[series] }))
}

/** At least a quarter of a year, so that the cells of a short history are not too wide. */
function weeksOf(rows: readonly { readonly week_number: number }[]): number[] {
  const length = Math.max(13, ...rows.map((row) => row.week_number))
  return Array.from({ length }, (_, week) => week + 1)
}

function everyFourth(place: number): string {
  return place % 4 === 0 ? String(place) : ''
}

/** The repositories with the lowest readiness; more than eight lines look alike. */
function lowest(rows: readonly Row<'readiness'>[], width: number): Options {
  const shown = rows
    .flatMap((row) => (row.pass_rate === null ? [] : [{ ...row, pass_rate: row.pass_rate }]))
    .toSorted((a, b) => a.pass_rate - b.pass_rate)
    .slice(0, 12)
  const nameOf = practice.shortNames(shown)
  return bars(
    shown.map((row) => {
      return { name: nameOf(row), value: row.pass_rate, text: percent(row.pass_rate) }
    }),
    `Criteria that pass; the ${shown.length} lowest of ${rows.length} newest reports`,
    width,
    percent,
  )
}

function callsOf({ name, invocations }: { readonly name: string; readonly invocations: number }) {
  return { name, value: invocations, text: amount(invocations) }
}
