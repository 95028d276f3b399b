import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { known, ProjectError, requireKnown, type Place } from './errors.ts'
import { keyOfTest } from './properties.ts'
import { metricsShape, type Measure, type Metric } from './shapes.ts'
import type { Model } from './types.ts'
import { readYaml } from './yaml.ts'

const METRICS_FILE = 'metrics.yml'

/**
 * The metrics of a project, which a build has verified; none without the file.
 *
 * @throws ProjectError with file and line for an invalid file.
 */
export async function loadMetrics(folder: string): Promise<Metric[]> {
  return (await parseMetrics(folder))?.value.metrics ?? []
}

/**
 * Reads the metrics of a project and verifies them against its models; none without the file.
 *
 * @throws ProjectError with file and line for an unknown model, column or metric, a metric that
 * is defined twice, a grain that is not the model's, and a ratio of ratios.
 */
export async function readMetrics(folder: string, models: readonly Model[]): Promise<Metric[]> {
  const parsed = await parseMetrics(folder)
  if (parsed === null) return []
  const { metrics } = parsed.value
  const names = metrics.map((each) => each.name)
  const measures = metrics.filter(({ type }) => type === 'measure').map((each) => each.name)
  for (const [index, metric] of metrics.entries()) {
    const placeOf = (...key: string[]): Place => parsed.placeOf('metrics', index, ...key)
    if (names.indexOf(metric.name) < index) {
      throw new ProjectError(placeOf(), `metric '${metric.name}' is defined twice`)
    }
    if (metric.type === 'measure') verifyMeasure(metric, models, placeOf)
    else {
      requireKnown(placeOf('numerator'), 'measure', metric.numerator, measures)
      requireKnown(placeOf('denominator'), 'measure', metric.denominator, measures)
    }
  }
  return metrics
}

async function parseMetrics(folder: string) {
  if (!existsSync(join(folder, METRICS_FILE))) return null
  return await readYaml(folder, METRICS_FILE, metricsShape)
}

function verifyMeasure(
  metric: Measure,
  models: readonly Model[],
  placeOf: (key: string) => Place,
): void {
  const byName = new Map(models.map((model) => [model.name, model]))
  const model = known(placeOf('model'), 'model', metric.model, byName)
  const columns = model.columns.map((each) => each.name)
  requireKnown(placeOf('time'), 'column', metric.time, columns)
  const keys = model.tests
    .map((test) => [...keyOfTest(test)].sort().join(', '))
    .filter((key) => key !== '')
  const grain = [...metric.grain].sort().join(', ')
  if (!keys.includes(grain)) {
    const tested = `The keys that its yml tests: ${keys.join('; ')}.`
    const hint = keys.length === 0 ? 'Its yml tests no key.' : tested
    throw new ProjectError(placeOf('grain'), `${grain} is not a key of ${model.name}`, { hint })
  }
  for (const column of metric.adds_up_over) {
    requireKnown(placeOf('adds_up_over'), 'column of the grain', column, metric.grain)
  }
}
