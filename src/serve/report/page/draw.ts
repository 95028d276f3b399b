import * as Plot from '@observablehq/plot'
import * as adoption from '../adoption.ts'
import type { Chart } from '../chart.ts'
import * as practice from '../practice.ts'
import * as spend from '../spend.ts'
import type { View } from '../view.ts'
import { amount, monthText, nameText, percent } from '../words.ts'

type Drawing = SVGSVGElement | HTMLElement
/** Draws a chart for a view in so many pixels; null where it has no rows. */
export type Draw = (view: View, width: number) => Drawing | null

/** Colours by place; the style sheet has them for light, dark and print. */
const COLOURS = Array.from({ length: 8 }, (_, at) => `var(--series-${at + 1})`)
const QUIET = 'var(--quiet)'
const HEIGHT = 240

/** The drawing of each chart by its id. Charts without one are tables. */
export const DRAWINGS: ReadonlyMap<string, Draw> = new Map([
  drawn(adoption.activeUsers, (rows) => ({
    x: time,
    y: people,
    ...lines(
      rows.flatMap(({ day, daily, weekly, monthly }) => [
        { at: dateOf(day), value: daily, series: 'That day' },
        { at: dateOf(day), value: weekly, series: 'Last 7 days' },
        { at: dateOf(day), value: monthly, series: 'Last 30 days' },
      ]),
      ['That day', 'Last 7 days', 'Last 30 days'],
    ),
  })),
  drawn(adoption.teamActivity, (rows) => ({
    x: time,
    y: people,
    ...lines(
      rows.map((row) => ({ at: dateOf(row.week), value: row.active_users, series: row.team })),
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
    return { x: time, y: people, marks: [weekBars(bars, names)], legend: names }
  }),
  drawn(adoption.retention, (rows) => ({
    height: Math.max(160, 60 + 18 * new Set(rows.map(({ cohort }) => cohort)).size),
    marginLeft: 84,
    x: { label: 'Weeks later', domain: weeks26, tickFormat: everyFourth },
    y: { label: 'First week', type: 'band' },
    color: { scheme: 'blues', domain: [0, 1] },
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
        fill: fillOfDays,
        title: titleOfDays,
      }),
      Plot.ruleY([0]),
    ],
  })),
  drawn(adoption.seats, (rows) => bars(rows, 'status', 'people', 'People')),
  drawn(spend.monthSpend, (rows) => {
    const months = [...new Set(rows.map(({ month }) => month))]
    return {
      x: { label: 'Day of the month', domain: [1, 31] },
      y: credits,
      ...lines(
        rows.map((row) => ({
          at: row.day_of_month,
          value: row.billable_tokens,
          series: monthText(row.month),
        })),
        months.map(monthText).reverse(),
      ),
    }
  }),
  drawn(spend.modelSpend, (rows) => {
    const order = [...new Map(rows.map((row) => [row.model, row.place]))]
    const names = order.sort((a, b) => a[1] - b[1]).map(([name]) => name)
    const values = rows.map((row) => ({
      at: dateOf(row.week),
      value: row.billable_tokens,
      series: row.model,
    }))
    return { x: time, y: credits, marks: [weekBars(values, names)], legend: names }
  }),
  drawn(spend.teamSpend, (rows, view) =>
    bars(rows, 'team', 'billable_tokens', 'Credits', ({ team }) => team === view.team),
  ),
  drawn(spend.concentration, (rows) => {
    const months = [...new Set(rows.map(({ month }) => month))]
    const from = months.map((month) => ({ at: 0, value: 0, series: monthText(month) }))
    return {
      x: { label: 'People, highest credits first', tickFormat: percent },
      y: { ...share, label: 'Credits' },
      ...lines(
        [
          ...from,
          ...rows.map((row) => ({
            at: row.share_of_users,
            value: row.share_of_credits,
            series: monthText(row.month),
          })),
        ],
        months.map(monthText).reverse(),
      ),
    }
  }),
  drawn(spend.efficiency, (rows) => ({
    x: time,
    y: { label: 'For a million credits', grid: true, zero: true, tickFormat: amount },
    ...lines(
      rows.flatMap(({ week, commits, files }) => [
        { at: dateOf(week), value: files, series: 'Files' },
        { at: dateOf(week), value: commits, series: 'Commits' },
      ]),
    ),
  })),
  drawn(practice.autonomy, (rows) => ({
    x: time,
    y: { label: 'Tool calls a message', grid: true, zero: true },
    ...lines(
      rows.flatMap(({ week, ratio, p50, p90 }) => [
        { at: dateOf(week), value: ratio, series: 'All together' },
        { at: dateOf(week), value: p50, series: 'Median' },
        { at: dateOf(week), value: p90, series: '90th percentile' },
      ]),
    ),
  })),
  drawn(practice.autonomyLevels, (rows) => {
    const names = [...new Set(rows.map(({ level }) => level))].sort()
    const values = rows.map((row) => ({
      at: dateOf(row.week),
      value: row.share,
      series: row.level,
    }))
    return {
      x: time,
      y: { ...share, label: 'Tool calls' },
      marks: [weekBars(values, names)],
      legend: names,
    }
  }),
  drawn(practice.tools, (rows) => bars(rows, 'name', 'invocations', 'Calls')),
  drawn(practice.servers, (rows) => bars(rows, 'name', 'invocations', 'Calls')),
  drawn(practice.clients, (rows) => ({
    x: time,
    y: people,
    ...lines(
      rows.map((row) => ({ at: dateOf(row.week), value: row.daily_users, series: row.client })),
    ),
  })),
  drawn(practice.output, (rows) => ({
    x: time,
    y: { label: 'In a week', grid: true, zero: true, tickFormat: amount },
    ...lines(
      rows.flatMap(({ week, git_commits, git_prs_created, files }) => [
        { at: dateOf(week), value: files, series: 'Files' },
        { at: dateOf(week), value: git_commits, series: 'Commits' },
        { at: dateOf(week), value: git_prs_created, series: 'Pull requests' },
      ]),
    ),
  })),
  drawn(practice.readiness, (rows) => ({
    x: time,
    y: { ...share, label: 'Criteria that pass' },
    ...lines(
      rows.map((row) => ({ at: dateOf(row.day), value: row.pass_rate, series: row.repository })),
    ),
  })),
])

interface Options extends Plot.PlotOptions {
  readonly legend?: readonly string[]
}

function drawn<Row>(
  { id, about, read }: Chart<Row>,
  options: (rows: readonly Row[], view: View) => Options,
): readonly [string, Draw] {
  return [
    id,
    (view, width) => {
      const { rows, finding } = read(view)
      if (rows.length === 0) return null
      const { legend, ...plot } = options(rows, view)
      const color = legend === undefined ? {} : { color: { ...scale(legend), legend: true } }
      const drawing = Plot.plot({
        width,
        height: HEIGHT,
        marginLeft: 56,
        marginRight: 16,
        ariaLabel: finding,
        ariaDescription: about,
        className: 'plot',
        ...color,
        ...plot,
      })
      return asPicture(drawing)
    },
  ]
}

/** One picture with a name to assistive technology: its parts have no names. */
function asPicture(drawing: Drawing): Drawing {
  const svg = drawing.querySelector('svg.plot') ?? drawing
  svg.setAttribute('role', 'img')
  for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label')
  return drawing
}

interface Point {
  /** A day, or a number. */
  readonly at: Date | number
  readonly value: number | null
  readonly series: string
}

function dateOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`)
}

const time: Plot.ScaleOptions = { type: 'utc', label: null }
const people: Plot.ScaleOptions = { label: 'People', grid: true, zero: true, nice: true }
const credits: Plot.ScaleOptions = { label: 'Credits', grid: true, zero: true, tickFormat: amount }
const share: Plot.ScaleOptions = { grid: true, domain: [0, 1], tickFormat: percent }
const weeks26 = Array.from({ length: 26 }, (_, week) => week + 1)
const days28 = Array.from({ length: 29 }, (_, days) => days)

function everyFourth(place: number): string {
  return place % 4 === 0 ? String(place) : ''
}

function fillOfDays({ active_days }: { readonly active_days: number }): string {
  return (active_days >= 12 ? COLOURS[0] : QUIET) ?? QUIET
}

function titleOfDays(row: { readonly active_days: number; readonly users: number }): string {
  return `${row.active_days} days: ${row.users}`
}

function scale(names: readonly string[]): Plot.ScaleOptions {
  return {
    domain: [...names],
    range: names.map((_, at) => COLOURS[at % COLOURS.length] ?? QUIET),
    tickFormat: (name: string) => nameText(name, 24),
  }
}

/** A line for each series, named at its end; more than eight cannot be distinguished by colour. */
function lines(
  points: readonly Point[],
  order?: readonly string[],
): Pick<Options, 'marks' | 'marginRight'> {
  const names = order ?? rankedNames(points)
  const colour = new Map(names.map((name, at) => [name, COLOURS[at] ?? QUIET]))
  const stroke = ({ series }: Point): string => colour.get(series) ?? QUIET
  const title = ({ at, value, series }: Point): string =>
    `${nameText(series)}\n${placeText(at)}: ${amount(value)}`
  return {
    marginRight: 116,
    marks: [
      Plot.ruleY([0]),
      Plot.lineY(points, { x: 'at', y: 'value', z: 'series', stroke, strokeWidth: 1.75 }),
      Plot.dot(points, { x: 'at', y: 'value', fill: stroke, r: points.length > 200 ? 0 : 1.5 }),
      Plot.text(labels(points, new Set(names.slice(0, COLOURS.length))), {
        x: 'at',
        y: 'place',
        fill: stroke,
        textAnchor: 'start',
        dx: 6,
        text: ({ series }: Point) => nameText(series, 17),
      }),
      Plot.tip(points, Plot.pointer({ x: 'at', y: 'value', title, fill: 'var(--card)' })),
    ],
  }
}

function placeText(at: Date | number): string {
  return at instanceof Date ? at.toISOString().slice(0, 10) : String(at)
}

/** The last point of each named series, moved up where its name would cover another's. */
function labels(
  points: readonly Point[],
  names: ReadonlySet<string>,
): (Point & { place: number })[] {
  const last = new Map(points.flatMap((each) => (each.value === null ? [] : [[each.series, each]])))
  const highest = Math.max(...points.map(({ value }) => value ?? 0))
  const gap = (highest * 14) / (HEIGHT - 50)
  const placed: (Point & { place: number })[] = []
  const ends = [...last.values()].filter(({ series }) => names.has(series))
  for (const end of ends.sort((a, b) => (a.value ?? 0) - (b.value ?? 0))) {
    const beside = placed.filter(({ at }) => Number(at) === Number(end.at))
    const below = beside.at(-1)?.place ?? -Infinity
    placed.push({ ...end, place: Math.max(end.value ?? 0, below + gap) })
  }
  return placed
}

/** Names by their last value, the highest first. */
function rankedNames(points: readonly Point[]): string[] {
  const last = new Map(points.map(({ series, value }) => [series, value ?? 0]))
  return [...last].sort((a, b) => b[1] - a[1]).map(([name]) => name)
}

/** Stacked bars, one a week. */
function weekBars(points: readonly Point[], names: readonly string[]): Plot.Markish {
  return Plot.rectY(points, {
    x: 'at',
    y: 'value',
    fill: 'series',
    interval: 'week',
    insetLeft: 0.5,
    insetRight: 0.5,
    order: [...names],
    title: ({ at, value, series }: Point) =>
      `${nameText(series)}\n${placeText(at)}: ${amount(value)}`,
  })
}

/** Horizontal bars with their values, in the order of the rows. */
function bars<Row extends object>(
  rows: readonly Row[],
  name: keyof Row & string,
  value: keyof Row & string,
  label: string,
  isChosen: (row: Row) => boolean = () => true,
): Options {
  const isAnyChosen = rows.some(isChosen)
  const textOf = (row: Row): string => {
    const number = row[value]
    return amount(typeof number === 'number' ? number : null)
  }
  return {
    height: 44 + 22 * rows.length,
    marginLeft: 150,
    marginRight: 64,
    x: { label, grid: true, tickFormat: amount, ticks: 4 },
    y: {
      label: null,
      domain: rows.map((row) => String(row[name])),
      tickFormat: (text: string) => nameText(text, 22),
    },
    marks: [
      Plot.barX(rows, {
        x: value,
        y: name,
        inset: 2,
        fill: (row: Row) => (!isAnyChosen || isChosen(row) ? (COLOURS[0] ?? QUIET) : QUIET),
        title: (row: Row) => `${nameText(String(row[name]), 300)}: ${textOf(row)}`,
      }),
      Plot.text(rows, { x: value, y: name, text: textOf, textAnchor: 'start', dx: 4 }),
    ],
  }
}
