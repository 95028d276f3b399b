import * as Plot from '@observablehq/plot'
import type { Row } from '../data.ts'
import { amount, dayText, nameText, signed, tickAmount } from '../words.ts'
import {
  COLOURS,
  dateOf,
  DAY,
  lettersIn,
  marginFor,
  QUIET,
  withGaps,
  type EndLabel,
  type Options,
  type Point,
} from './marks.ts'

const [BLUE = QUIET, ORANGE = QUIET, GREEN = QUIET] = COLOURS
const LIMIT = 'var(--bad)'

/** The credits of a month by day, and the range of the forecast, against the limit. */
export function burnUp(rows: readonly Row<'forecast_days'>[]): Options {
  const last = rows.at(-1)
  if (last === undefined) return {}
  const { p10, p50, p90, credit_limit: limit, exhaustion_day: exhausted } = last
  const today = dateOf(last.day)
  const end = new Date(today.getTime() + last.days_left * DAY)
  const isFan = p10 !== null && p50 !== null && p90 !== null && last.days_left > 0
  const highest = isFan ? p90 : last.month_to_date
  // A limit far above would flatten everything else; then only its name is shown.
  const isLimitNear = limit !== null && limit <= 2 * highest
  const so_far = rows.map((row) => {
    return { at: dateOf(row.day), value: row.month_to_date, series: row.month }
  })
  const now = { at: today, value: last.month_to_date }
  const ends: EndLabel[] = [
    ...(isFan
      ? [
          { value: p90, text: `P90 ${amount(p90)}`, colour: BLUE },
          { value: p50, text: `P50 ${amount(p50)}`, colour: BLUE },
          { value: p10, text: `P10 ${amount(p10)}`, colour: BLUE },
        ]
      : [{ value: last.month_to_date, text: amount(last.month_to_date), colour: BLUE }]),
    ...(isLimitNear ? [{ value: limit, text: `Limits ${amount(limit)}`, colour: LIMIT }] : []),
  ]
  const fan = isFan
    ? [
        Plot.areaY(
          [
            { at: today, low: now.value, high: now.value },
            { at: end, low: p10, high: p90 },
          ],
          { x: 'at', y1: 'low', y2: 'high', fill: BLUE, fillOpacity: 0.2 },
        ),
        Plot.lineY([now, { at: end, value: p50 }], {
          ...{ x: 'at', y: 'value', stroke: BLUE, strokeWidth: 1.75, strokeDasharray: '4 3' },
        }),
      ]
    : []
  return {
    ends,
    x: { type: 'utc', label: null, domain: [dateOf(last.month), end] },
    y: {
      label:
        limit === null || isLimitNear ? 'Credits' : `Credits; limits of ${amount(limit)} lie above`,
      domain: [0, Math.max(highest, isLimitNear ? limit : 0) || 1],
      grid: true,
      nice: true,
      tickFormat: tickAmount,
    },
    marks: [
      Plot.ruleY([0]),
      ...fan,
      Plot.lineY(withGaps<Point>(DAY, so_far), {
        x: 'at',
        y: 'value',
        stroke: BLUE,
        strokeWidth: 1.75,
      }),
      Plot.dot([now], { x: 'at', y: 'value', fill: BLUE, r: 3 }),
      ...(isLimitNear ? [Plot.ruleY([limit], { stroke: LIMIT, strokeDasharray: '2 3' })] : []),
      ...(exhausted === null || !isLimitNear
        ? []
        : [
            Plot.dot([exhausted], { x: dateOf, y: limit, fill: LIMIT, r: 4 }),
            Plot.text([exhausted], {
              ...{ x: dateOf, y: limit, text: dayText, fill: LIMIT, dy: -10, textAnchor: 'end' },
            }),
          ]),
      Plot.tip(so_far, Plot.pointer({ x: 'at', y: 'value', fill: 'var(--card)', title: tipOf })),
    ],
  }
}

function tipOf({ at, value }: { readonly at: Date; readonly value: number }): string {
  return `${dayText(at.toISOString().slice(0, 10))}: ${amount(value)}`
}

/** A step: the value before it, the value after it, and its name. */
interface Step {
  readonly step: string
  /** Null: a month, which has a value and is no step. */
  readonly change: number | null
  readonly total: number
}

/**
 * A bar for each step from one month to the next. A month is a point, so the axis may begin
 * anywhere.
 */
export function waterfall(steps: readonly Step[], width: number): Options {
  const isMonth = ({ change }: Step): boolean => change === null
  const text = ({ change, total }: Step): string =>
    change === null ? amount(total) : signed(change)
  const fill = ({ change }: Step): string => ((change ?? 0) > 0 ? ORANGE : GREEN)
  const before = ({ change, total }: Step): number => total - (change ?? 0)
  const right = (step: Step): number => Math.max(step.total, before(step))
  const values = steps.flatMap((step) => [step.total, before(step)])
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const edge = (high - low || high || 1) * 0.08
  const marginLeft = marginFor(Math.max(...steps.map(({ step }) => step.length)), width * 1.3)
  return {
    height: 48 + 24 * steps.length,
    marginTop: 6,
    marginLeft,
    marginRight: 60,
    x: {
      label: 'Credits',
      domain: [Math.max(0, low - edge), high + edge],
      grid: true,
      tickFormat: tickAmount,
      ticks: Math.max(2, Math.round(width / 150)),
    },
    y: {
      label: null,
      domain: steps.map(({ step }) => step),
      tickFormat: (name: string) => nameText(name, lettersIn(marginLeft)),
    },
    marks: [
      Plot.barX(steps, {
        filter: (each: Step) => !isMonth(each),
        x1: before,
        x2: 'total',
        y: 'step',
        fill,
        insetTop: 4,
        insetBottom: 4,
        title: (each: Step) => `${each.step}: ${text(each)}`,
      }),
      Plot.dot(steps, { filter: isMonth, x: 'total', y: 'step', fill: BLUE, r: 5 }),
      Plot.text(steps, { x: right, y: 'step', text, textAnchor: 'start', dx: 8 }),
    ],
  }
}
