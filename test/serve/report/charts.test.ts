import { expect, it } from 'vitest'
import { sections } from '../../../src/serve/report/charts.ts'
import { headlines } from '../../../src/serve/report/headlines.ts'
import { shortNames } from '../../../src/serve/report/practice.ts'
import { METRICS, view } from './sample.ts'

it('a chart of an organisation without data has a title and no rows', () => {
  const empty = view({ last_day: null })
  const charts = sections(true).flatMap((section) => section.charts)
  expect(charts.map((chart) => chart.read(empty).rows)).toEqual(charts.map(() => []))
  expect(charts.map((chart) => chart.read(empty).finding)).not.toContain('')
})

it('the metrics of charts and headlines are those of metrics.yml, with their usual mistake', () => {
  const charts = sections(true).flatMap((section) => section.charts)
  const shown = [
    ...charts.flatMap(({ metrics }) => metrics),
    ...headlines(view()).flatMap(({ about }) => ('metric' in about ? about.metric : [])),
  ]
  expect(shown.filter((name) => !METRICS.some((metric) => metric.name === name))).toEqual([])
  expect(headlines(view()).filter(({ about }) => Object.values(about).join('') === '')).toEqual([])
  expect(METRICS.find(({ name }) => name === 'cache_share')?.basis).toBe(
    'Tokens read from the cache divided by all input tokens, each over the whole period',
  )
  expect(METRICS.find(({ name }) => name === 'autonomy_ratio')).toEqual({
    name: 'autonomy_ratio',
    label: 'Autonomy ratio',
    unit: 'tool calls per user message',
    description: 'Tool calls per message that a user wrote: how much the agent does on its own.',
    basis: 'Tool calls divided by user messages, each over the whole period',
    mistake:
      'Averaging the ratios of days or users. A day with one message then counts as much as a day with a thousand.',
  })
})

it('repositories are named by their last two parts, or by all where two hosts have the same', () => {
  const repositories = ['github.com/acme/api', 'gitlab.com/acme/api', 'github.com/acme/web', 'own']
  const shown = repositories.map((repository) => ({ repository }))
  expect(shown.map(shortNames(shown))).toEqual([
    ...['github.com/acme/api', 'gitlab.com/acme/api', 'acme/web', 'own'],
  ])
})
