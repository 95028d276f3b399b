import type { DocumentedMetric } from '../docs/read.ts'
import type { Definition } from './data.ts'

/** What the metrics mean that charts and headlines show. */
export function definitionsOf(metrics: readonly DocumentedMetric[]): Definition[] {
  const labelOf = (name: string): string =>
    metrics.find((each) => each.name === name)?.label.toLowerCase() ?? name
  return metrics.map((metric) => ({
    ...{ name: metric.name, label: metric.label, unit: metric.unit },
    description: plain(metric.description),
    mistake: plain(metric.mistake),
    basis:
      'model' in metric
        ? `Of ${metric.model}, one row per ${metric.grain.join(', ')}`
        : `All ${labelOf(metric.numerator)} of the period divided by all ${labelOf(metric.denominator)}`,
  }))
}

function plain(markdown: string): string {
  return markdown.trim().replaceAll('`', '')
}
