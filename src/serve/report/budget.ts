import { defineChart } from './chart.ts'
import type { Row } from './data.ts'
import { sum } from './view.ts'
import {
  amount,
  capital,
  change,
  dayText,
  listText,
  missingText,
  monthText,
  percent,
  sameDays,
  signed,
} from './words.ts'

export const forecast = defineChart({
  id: 'forecast',
  about:
    'Credits of the month so far, and its forecast: four in five months should end in the band',
  metrics: ['credits'],
  how: 'Each remaining day is expected to be like its weekday in the weeks before, corrected by the median error of earlier forecasts over as many days; the band spans 80 % of these errors (P10 to P90). The line between today and the end of the month is straight. The limit is the sum of the limits of all users, if each has one: the platform has no limit for an organisation.',
  columns: {
    day: 'Known to',
    month_to_date: 'Credits so far',
    p10: 'Month, P10',
    p50: 'Month, P50',
    p90: 'Month, P90',
    credit_limit: 'Limits',
    exhaustion_day: 'Limits used up',
  },
  empty: 'No credits of a month are known',
  rows: ({ organisation }) => organisation.forecast_days,
  finding: (_, _view, last) => {
    const { days_left, month_to_date, p10, p50, p90 } = last
    const month = monthText(last.month)
    const limits = limitText(last)
    const missing = missingText(last.missing_days)
    if (days_left === 0)
      return `${month} came to ${amount(month_to_date)} credits${missing === null ? '' : ` (${missing})`}${limits}`
    if (p50 === null) return `There is too little history for a forecast of ${month}`
    return `${month} is heading for about ${amount(p50)} credits (${amount(p10)} to ${amount(p90)})${limits}`
  },
})

function limitText({ day, month_to_date, p50, ...forecast }: Row<'forecast_days'>): string {
  const { credit_limit: limit, exhaustion_day: end } = forecast
  if (limit === null) return ''
  if (end !== null)
    return `; the limits of ${amount(limit)} ${end <= day ? 'were' : 'will be'} used up on ${dayText(end)}`
  return `, ${percent((p50 ?? month_to_date) / limit)} of the limits of ${amount(limit)}`
}

export const forecastErrors = defineChart({
  id: 'forecast-errors',
  about: 'How far the forecasts of a month were off on average, compared with two simple forecasts',
  how: 'The forecast of every day of a past month, made with what was known on that day, compared with the result of the month; the error is a share of the result. “Same as last month” expects the result of the month before, “straight line” as many credits per day as so far. The band should contain the result four times in five. The forecasts of one month are alike, so a few months prove little.',
  columns: {
    month: 'Month',
    forecasts: 'Forecasts',
    error: 'Error',
    last_month_error: 'Error of “same as last month”',
    straight_line_error: 'Error of a straight line',
    within_band: 'Within the band',
  },
  empty: 'No forecast of a whole month is known yet',
  rows: ({ organisation }) => organisation.forecast_months,
  finding: (rows) => {
    const days = sum(rows.map((row) => row.forecasts))
    const error = sum(rows.map((row) => row.error * row.forecasts)) / days
    const within = sum(rows.map((row) => row.within_band)) / days
    return `Forecasts of past months were off by ${percent(error)} on average; the month ended in their band on ${percent(within)} of days`
  },
})

const COMPONENTS: Readonly<Record<string, string>> = {
  joined_users: 'people who joined',
  left_users: 'people who left',
  volume: 'volume of use',
  model_mix: 'choice of models',
  rate: 'credits per token',
  '(unattributed)': 'not attributed',
}

export const bridge = defineChart({
  id: 'bridge',
  about:
    'Why the credits of a month differ from those of the month before. The axis does not begin at zero',
  how: 'The last whole month and the one before it, on the days that are known in both. For people with credits in both: volume is the change of tokens at last month’s credits per token, choice of models is the change because other models were used, and credits per token is what is left, with discounts for cached tokens. “Not attributed” is what no user, model or token accounts for. A step of fewer than five people is combined with the next.',
  columns: {
    step: 'Step',
    change: 'Change',
    total: 'Credits',
    users: 'People',
  },
  empty: 'No month can be compared with the one before it',
  rows: ({ organisation: { bridge: components } }) => {
    const [first] = components
    if (first === undefined) return []
    let total = first.previous_billable_tokens
    const steps = components
      .filter((each) => each.change !== 0)
      .map(({ components: names, change: step, users }) => {
        total += step
        return { step: capital(stepText(names)), change: step, total, users }
      })
    const whole = (month: string, credits: number) => ({
      ...{ step: monthText(month), change: null, total: credits, users: null },
    })
    return [
      whole(first.previous_month, first.previous_billable_tokens),
      ...steps,
      whole(first.month, first.billable_tokens),
    ]
  },
  finding: (_, { organisation: { bridge: components } }) => {
    const [first] = components
    if (first === undefined) return ''
    const { month, previous_month, compared_days, billable_tokens, previous_billable_tokens } =
      first
    const changed = change(billable_tokens, previous_billable_tokens)
    const days = sameDays(compared_days, previous_month)
    const parts = components
      .filter((each) => each.change !== 0)
      .sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
      .slice(0, 2)
      .map((each) => `${stepText(each.components)} ${signed(each.change)}`)
    const credits =
      changed === null
        ? `${amount(billable_tokens)} credits against ${amount(previous_billable_tokens)}`
        : `credits were ${changed}`
    const because = parts.length === 0 ? '' : `: ${parts.join(', ')}`
    return `In ${monthText(month)} ${credits} on ${days}${because}`
  },
})

/** For example `people who joined and volume of use`. */
function stepText(components: string): string {
  return listText(components.split(',').map((name) => COMPONENTS[name] ?? name))
}
