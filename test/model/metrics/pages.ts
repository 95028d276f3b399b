import { dump } from 'js-yaml'
import { AGGREGATE, type Measure, type Metric } from '../../../src/model/project/shapes.ts'
import { project } from '../alone.ts'

/** The aggregate of the rows of a mart. */
export type Aggregate =
  | { readonly kind: 'sum' | 'count_distinct'; readonly of: string }
  | { readonly kind: 'percentile'; readonly of: string; readonly at: number }

export type Additivity = 'additive' | 'semi-additive' | 'non-additive'

/** Whether results may be added up over everything, some things, or nothing. */
export function additivityOf(metric: Metric): Additivity {
  if (metric.type === 'ratio' || metric.adds_up_over.length === 0) return 'non-additive'
  return metric.adds_up_over.length === metric.grain.length ? 'additive' : 'semi-additive'
}

/** The expression of a measure in its parts. */
function aggregateOf({ expression }: Measure): Aggregate {
  const [, sum, summed = '', count, counted = '', , at = '', ordered = ''] =
    AGGREGATE.exec(expression) ?? []
  if (sum !== undefined) return { kind: 'sum', of: summed }
  if (count !== undefined) return { kind: 'count_distinct', of: counted }
  return { kind: 'percentile', of: ordered, at: Number(at) }
}

/**
 * The SELECT of a measure over all that its mart holds, by the columns given; of a metric for the
 * last day of a period, each group's rows of the last day that the mart has of the organisation.
 */
export function measureSql(metric: Measure, by: readonly string[] = []): string {
  const { model, time, period, expression } = metric
  const keys = by.map((column) => `${column}, `).join('')
  const last = `where (org_id, ${time}) in (select (org_id, max(${time})) from main.${model} group by org_id)`
  return [
    `select ${keys}${expression} as ${metric.name}`,
    `from main.${model}`,
    ...(period === 'last_day' && !by.includes(time) ? [last] : []),
    ...(by.length === 0 ? [] : [`group by ${by.map((_, at) => at + 1).join(', ')}`]),
  ].join('\n')
}

/** The SELECT of any metric over all that the marts hold. */
export function metricSql(metric: Metric): string {
  if (metric.type === 'measure') return measureSql(metric)
  const [above, below] = [metric.numerator, metric.denominator].map((name) =>
    measureSql(measureOf(name)),
  )
  return `select cast((${above ?? ''}) as double) / nullif((${below ?? ''}), 0) as ${metric.name}`
}

/** @throws Error for a name of no measure. */
export function measureOf(name: string): Measure {
  const found = measures.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no measure ${name}`)
  return found
}

export const measures = project.metrics.filter((each) => each.type === 'measure')

const WRITTEN = 'Written by `npm run docs:metrics` from dbt-like-models/metrics.yml.'

/** `docs/metrics.md` */
export function page(): string {
  return [
    `<!-- ${WRITTEN} -->`,
    '',
    '# Metrics',
    '',
    'The definition of each metric, and the usual mistake with it. Additive results can be added up over every column of the grain, semi-additive ones only over the named columns. Non-additive ones cannot be added up; compute them again for the whole. `dbt-like-models/semantic/` has the same definitions for MetricFlow.',
    '',
    '| metric | additivity | unit |',
    '| --- | --- | --- |',
    ...project.metrics.map(
      (metric) =>
        `| [${metric.label}](#${anchor(metric.label)}) | ${additivityOf(metric)} | ${metric.unit} |`,
    ),
    '',
    ...project.metrics.flatMap(section),
  ].join('\n')
}

/** The anchor that GitHub gives a heading. */
function anchor(label: string): string {
  return label
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}

function section(metric: Metric): string[] {
  const computed =
    metric.type === 'ratio'
      ? [`\`${metric.numerator} / ${metric.denominator}\`, each over the whole period.`]
      : [
          `\`${metric.expression}\` of \`${metric.model}\`${metric.period === 'last_day' ? ', on the last day of each organisation in a period' : ''}. Time: \`${metric.time}\`. Grain: ${codes(metric.grain)}.`,
        ]
  return [
    `## ${metric.label}`,
    '',
    `\`${metric.name}\`, in ${metric.unit}. ${metric.description}`,
    '',
    `- Computed: ${computed.join('')}`,
    `- Additivity: ${additivityText(metric)}`,
    `- Usual mistake: ${metric.mistake}`,
    '',
  ]
}

function additivityText(metric: Metric): string {
  const kind = additivityOf(metric)
  if (metric.type === 'ratio') return `${kind}. Divide the sums.`
  const over = codes(metric.adds_up_over)
  return kind === 'non-additive' ? `${kind}.` : `${kind}, over ${over}.`
}

function codes(names: readonly string[]): string {
  return names.map((each) => `\`${each}\``).join(', ')
}

/** `semantic_models` and `metrics` as MetricFlow reads them. */
export function semanticModels(): string {
  const models = [...new Set(measures.map(({ model }) => model))]
  const text = dump({
    semantic_models: models.map(semanticModel),
    metrics: project.metrics.map(metricEntry),
  })
  return `# ${WRITTEN}\n${text}`
}

function semanticModel(model: string): object {
  const own = measures.filter((each) => each.model === model)
  const times = new Set(own.map(({ time }) => time))
  const columns = [...new Set(own.flatMap(({ grain, time }) => [...grain, time]))]
  return {
    name: model,
    model: `ref('${model}')`,
    primary_entity: `${model}_row`,
    ...(own.some(isOfLastDay) ? { entities: [ORGANISATION] } : {}),
    defaults: { agg_time_dimension: own[0]?.time },
    dimensions: columns.map((name) =>
      times.has(name)
        ? { name, type: 'time', type_params: { time_granularity: granularity(name) } }
        : { name, type: 'categorical' },
    ),
    measures: own.map(measureEntry),
  }
}

/** By which the last day of a period is found: another organisation may have later days. */
const ORGANISATION = { name: 'organisation', type: 'foreign', expr: 'org_id' }

function isOfLastDay({ period }: Measure): boolean {
  return period === 'last_day'
}

function granularity(time: string): string {
  return /week/.test(time) ? 'week' : 'day'
}

function measureEntry(metric: Measure): object {
  const { name, time } = metric
  const aggregate = aggregateOf(metric)
  const percentile =
    aggregate.kind === 'percentile' ? { agg_params: { percentile: aggregate.at } } : {}
  const window = { window_choice: 'max', window_groupings: [ORGANISATION.name] }
  const last = isOfLastDay(metric) ? { non_additive_dimension: { name: time, ...window } } : {}
  return { name, agg: aggregate.kind, ...percentile, expr: aggregate.of, ...last }
}

function metricEntry(metric: Metric): object {
  const { name, label, description, unit, mistake } = metric
  return {
    ...{ name, label, description },
    ...(metric.type === 'measure'
      ? { type: 'simple', type_params: { measure: name } }
      : {
          type: 'ratio',
          type_params: { numerator: metric.numerator, denominator: metric.denominator },
        }),
    config: { meta: { additivity: additivityOf(metric), unit, usual_mistake: mistake } },
  }
}
