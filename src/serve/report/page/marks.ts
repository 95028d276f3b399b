import * as Plot from '@observablehq/plot'
import type { Chart } from '../chart.ts'
import type { View } from '../view.ts'
import { amount, nameText, wholeAmount } from '../words.ts'

type Drawing = SVGSVGElement | HTMLElement
/** Draws a chart for a view at a width in pixels; null without rows. */
export type Draw = (view: View, width: number) => Drawing | null

/** Colours by position; the style sheet defines them for light, dark and print. */
export const COLOURS = Array.from({ length: 8 }, (_, at) => `var(--series-${at + 1})`)
export const QUIET = 'var(--quiet)'
/** The series of the compared period: dashed, without its own colour. */
export const COMPARED = 'Compared'
const HEIGHT = 240
/** The width of a letter and the height of a line of a label, in pixels. */
const LETTER = 6.1
const LINE = 13

/** A name to the right of a plot, at the height of its value. */
export interface EndLabel {
  readonly value: number
  readonly text: string
  readonly colour: string
}

export interface Options extends Plot.PlotOptions {
  /** Series by colour; a legend above the plot names them unless names are to its right. */
  readonly legend?: readonly string[]
  /** Names to the right of the plot. */
  readonly ends?: readonly EndLabel[]
}

export function drawn<Row>(
  { id, about, read }: Chart<Row>,
  options: (rows: readonly Row[], view: View, width: number) => Options,
): readonly [string, Draw] {
  return [
    id,
    (view, width) => {
      const { rows, finding } = read(view)
      if (rows.length === 0) return null
      const { legend, ends = [], ...plot } = options(rows, view, width)
      const letters = Math.max(0, ...ends.map(({ text }) => text.length))
      const drawing = Plot.plot({
        width,
        height: HEIGHT,
        marginLeft: 56,
        marginRight: ends.length === 0 ? 16 : marginFor(letters, width),
        ariaLabel: finding,
        ariaDescription: about,
        className: 'plot',
        ...(legend === undefined ? {} : { color: scale(legend, ends) }),
        ...plot,
        ...(plot.x?.type === 'utc' ? { x: { ...plot.x, tickSpacing: tickSpacing(width) } } : {}),
      })
      return asPicture(drawing, ends)
    },
  ]
}

/** Between two dates, in pixels. With as much as on a wide screen, a narrow one has no date at all. */
function tickSpacing(width: number): number {
  return Math.min(80, width / 6)
}

/** The width of a name with that many letters, at most a third of the drawing. */
export function marginFor(letters: number, width: number): number {
  return Math.min(Math.ceil(15 + letters * LETTER), Math.max(width / 3, 80))
}

/** As many letters of a name as fit. */
export function lettersIn(margin: number): number {
  return Math.floor((margin - 14) / LETTER)
}

/** One picture with a name for assistive technology: its parts have no names. */
function asPicture(drawing: Drawing & Plot.Plot, ends: readonly EndLabel[]): Drawing {
  const svg = drawing.querySelector('svg.plot') ?? drawing
  svg.setAttribute('role', 'img')
  for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label')
  if (ends.length > 0) nameEnds(svg, drawing, ends)
  return drawing
}

/** The positions of the values are known only after drawing. */
function nameEnds(svg: Element, plot: Plot.Plot, ends: readonly EndLabel[]): void {
  const [x, y] = [plot.scale('x'), plot.scale('y')]
  if (x === undefined || y === undefined) return
  const right = Math.max(...numbersOf(x.range))
  const letters = lettersIn(Number(svg.getAttribute('width')) - right)
  const placed = ends.map((end) => ({ ...end, at: Number(y.apply(end.value)) }))
  for (const { at, text, colour } of spread(placed, Math.max(...numbersOf(y.range)))) {
    const label = document.createElementNS('http://www.w3.org/2000/svg', 'text')
    const place = {
      x: `${right + 8}`,
      y: `${at}`,
      dy: '0.32em',
      fill: colour,
      'text-anchor': 'start',
    }
    for (const [name, value] of Object.entries(place)) label.setAttribute(name, value)
    label.textContent = nameText(text, letters)
    svg.append(label)
  }
}

function numbersOf(range: Iterable<unknown> | undefined): number[] {
  return [...(range ?? [])].map(Number)
}

/** Moves overlapping names apart: down, and up at the end of the plot. */
function spread<T extends { readonly at: number }>(labels: readonly T[], bottom: number): T[] {
  const placed: T[] = []
  for (const label of labels.toSorted((a, b) => a.at - b.at)) {
    const above = placed.at(-1)?.at ?? -Infinity
    placed.push({ ...label, at: Math.max(label.at, above + LINE) })
  }
  let below = bottom + LINE
  return placed.toReversed().map((label) => {
    below = Math.min(label.at, below - LINE)
    return { ...label, at: below }
  })
}

export interface Point {
  /** A day, or a number. */
  readonly at: Date | number
  readonly value: number | null
  readonly series: string
}

export const DAY = 86_400_000
export const WEEK = 7 * DAY

/**
 * The points, and one without a value, which breaks the line, wherever a series lacks the point that
 * should follow within that distance.
 */
export function withGaps<P extends Point>(within: number, points: readonly P[]): P[] {
  const expected = new Map<string, number>()
  return points.flatMap((point) => {
    const latest = expected.get(point.series) ?? Infinity
    expected.set(point.series, Number(point.at) + within)
    if (Number(point.at) <= latest) return [point]
    const at = point.at instanceof Date ? new Date(latest) : latest
    return [{ ...point, at, value: null }, point]
  })
}

/** The beginning (UTC) of a day or a month, ISO 8601. */
export function dateOf(day: string): Date {
  return new Date(day)
}

function scale(names: readonly string[], ends: readonly EndLabel[]): Plot.ScaleOptions {
  return {
    legend: names.length > ends.length,
    domain: [...names],
    range: names.map((_, at) => colourOf(at)),
    tickFormat: (name: string) => nameText(name, 24),
  }
}

/** The colour of a series of stacked bars by its place. */
function colourOf(place: number): string {
  return COLOURS[place % COLOURS.length] ?? QUIET
}

/** How the tip of a point writes its value. */
type Format = (value: number | null) => string

/**
 * A line for each series, named at its end; colours cannot distinguish more than eight. It breaks
 * where the point is missing that should follow `within` this distance (Infinity: never).
 */
export function lines(
  within: number,
  points: readonly Point[],
  order?: readonly string[],
  format: Format = amount,
): Pick<Options, 'marks' | 'ends'> {
  const last = new Map(points.flatMap((each) => (each.value === null ? [] : [[each.series, each]])))
  const names = order ?? ranked(last)
  const colour = new Map(names.map((name, at) => [name, COLOURS[at] ?? QUIET]))
  if (last.has(COMPARED)) colour.set(COMPARED, 'var(--soft)')
  const stroke = ({ series }: Point): string => colour.get(series) ?? QUIET
  // The first are drawn below the others.
  const broken = withGaps(within, points)
  const own = broken
    .filter(({ series }) => series !== COMPARED)
    .sort((a, b) => Number(stroke(b) === QUIET) - Number(stroke(a) === QUIET))
  const compared = broken.filter(({ series }) => series === COMPARED)
  return {
    ends: names.slice(0, COLOURS.length).flatMap((series) => {
      const value = last.get(series)?.value ?? null
      return value === null ? [] : [{ value, text: series, colour: colour.get(series) ?? QUIET }]
    }),
    marks: [
      Plot.ruleY([0]),
      Plot.lineY(compared, { x: 'at', y: 'value', stroke, strokeDasharray: '4 3' }),
      Plot.lineY(own, { x: 'at', y: 'value', z: 'series', stroke, strokeWidth: 1.75 }),
      Plot.dot(own, { x: 'at', y: 'value', fill: stroke, r: dotOf(own.length) }),
      Plot.tip(
        points,
        Plot.pointer({ x: 'at', y: 'value', title: tipOf(format), fill: 'var(--card)' }),
      ),
    ],
  }
}

/** The radius: few points make no line, very many need none. */
function dotOf(points: number): number {
  if (points < 10) return 3.5
  return points > 200 ? 0 : 1.5
}

function tipOf(format: Format): (point: Point) => string {
  return ({ at, value, series }) => {
    const place = at instanceof Date ? at.toISOString().slice(0, 10) : format(at)
    return `${nameText(series)}\n${place}: ${format(value)}`
  }
}

function ranked(last: ReadonlyMap<string, Point>): string[] {
  return [...last].sort((a, b) => (b[1].value ?? 0) - (a[1].value ?? 0)).map(([name]) => name)
}

/** Stacked bars, one a week or a day. A series in the last bar is named beside it. */
export function timeBars(
  points: readonly Point[],
  names: readonly string[],
  interval: 'week' | 'day' = 'week',
  format: Format = amount,
): Pick<Options, 'marks' | 'ends' | 'legend'> {
  return {
    legend: names,
    ends: interval === 'week' ? lastBar(points, names) : [],
    marks: [
      Plot.rectY(points, {
        x: 'at',
        y: 'value',
        fill: 'series',
        // Its weeks begin on Sunday.
        interval: interval === 'week' ? 'monday' : interval,
        insetLeft: 0.5,
        insetRight: 0.5,
        order: [...names],
        // if all are zero, the scale has no length, and each would fill the plot
        filter: ({ value }: Point) => value !== 0,
        title: tipOf(format),
      }),
      Plot.ruleY([0]),
    ],
  }
}

/**
 * The middle of each part of the last bar. Parts above zero and parts below zero are stacked
 * separately.
 */
function lastBar(points: readonly Point[], names: readonly string[]): EndLabel[] {
  const last = Math.max(...points.map(({ at }) => Number(at)))
  const parts = new Map(
    points.flatMap(({ at, value, series }) => (Number(at) === last ? [[series, value ?? 0]] : [])),
  )
  let [above, below] = [0, 0]
  return names.flatMap((text, place) => {
    const value = parts.get(text) ?? 0
    if (value === 0) return []
    const from = value > 0 ? above : below
    if (value > 0) above += value
    else below += value
    return [{ value: from + value / 2, text, colour: colourOf(place) }]
  })
}

/** A horizontal bar, named to its left and with its value to its right. */
interface Bar {
  readonly name: string
  readonly value: number
  readonly text: string
  readonly colour?: string | undefined
  /** The value in the compared period. */
  readonly before?: number | null
}

/** Horizontal bars, in the order given. */
export function bars(
  values: readonly Bar[],
  label: string,
  width: number,
  tickFormat = wholeAmount,
): Options {
  const longest = (of: (bar: Bar) => string): number =>
    Math.max(...values.map((bar) => Array.from(of(bar)).length))
  const marginLeft = marginFor(
    longest(({ name }) => name),
    width * 1.2,
  )
  return {
    height: 48 + 22 * values.length,
    marginTop: 6,
    marginLeft,
    marginRight: marginFor(
      longest(({ text, value }) => (value > 0 ? text : '')),
      width,
    ),
    x: {
      label,
      grid: true,
      tickFormat,
      ticks: Math.max(2, Math.round(width / 130)),
      domain: [0, Math.max(...values.flatMap(({ value, before }) => [value, before ?? 0])) || 1],
    },
    y: {
      label: null,
      domain: values.map(({ name }) => name),
      tickFormat: (name: string) => nameText(name, lettersIn(marginLeft)),
    },
    marks: [
      Plot.barX(values, {
        x: 'value',
        y: 'name',
        insetTop: 2,
        insetBottom: 2,
        fill: ({ colour }: Bar) => colour ?? COLOURS[0],
        title: ({ name, text }: Bar) => `${nameText(name, 300)}: ${text}`,
      }),
      Plot.tickX(values, {
        ...{ x: ({ before }: Bar) => before ?? NaN, y: 'name', stroke: 'currentColor' },
        ...{ strokeWidth: 2, insetTop: 1, insetBottom: 1 },
      }),
      Plot.text(values, {
        ...{ y: 'name', text: 'text', textAnchor: 'start', dx: 4 },
        x: ({ value, before }: Bar) => Math.max(value, before ?? 0),
      }),
    ],
  }
}
