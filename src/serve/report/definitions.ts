import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { packageRoot } from '../../lib/package.ts'
import type { Definition } from './data.ts'

const described = { name: z.string(), label: z.string(), unit: z.string() }
const text = z.string().transform((value) => value.trim().replaceAll('`', ''))
const explained = { ...described, description: text, mistake: text }

const metrics = z.object({
  metrics: z.array(
    z.discriminatedUnion('type', [
      z.object({
        ...explained,
        type: z.literal('measure'),
        model: z.string(),
        grain: z.array(z.string()),
      }),
      z.object({
        ...explained,
        type: z.literal('ratio'),
        numerator: z.string(),
        denominator: z.string(),
      }),
    ]),
  ),
})

/** What the metrics mean that charts and headlines show: `metrics.yml`, which a build verifies. */
export function readDefinitions(): Definition[] {
  const path = join(packageRoot, 'dbt-like-models', 'metrics.yml')
  const all = metrics.parse(parse(readFileSync(path, 'utf8'))).metrics
  const labelOf = (name: string): string =>
    all.find((each) => each.name === name)?.label.toLowerCase() ?? name
  return all.map((metric) => {
    const { name, label, unit, description, mistake } = metric
    const basis =
      metric.type === 'measure'
        ? `Of ${metric.model}, one row per ${metric.grain.join(', ')}`
        : `All ${labelOf(metric.numerator)} of the period divided by all ${labelOf(metric.denominator)}`
    return { name, label, unit, description, basis, mistake }
  })
}
