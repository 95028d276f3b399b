import { z } from 'zod'

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/, 'a name consists of lower case letters, digits and _')
const sentence = z
  .string()
  .trim()
  .regex(/^[A-Z`].*\.$/s, 'write a sentence, with a full stop')
/** The kinds of expressions: a sum, a distinct count, a percentile. */
export const AGGREGATE =
  /^(?:(sum)\((.+)\)|(count)\(distinct (.+)\)|(percentile_cont)\((0\.\d+)\) within group \(order by (.+)\))$/s

const described = {
  name,
  label: z.string().trim().min(1),
  unit: z.string().trim().min(1),
  description: sentence,
  /** A common mistake in using it. */
  mistake: sentence,
}

const measure = z.strictObject({
  type: z.literal('measure'),
  ...described,
  model: name,
  /** The key columns of the model. */
  grain: z.array(name).min(1),
  time: name,
  expression: z
    .string()
    .trim()
    .regex(
      AGGREGATE,
      'write sum(…), count(distinct …) or percentile_cont(0.…) within group (order by …)',
    ),
  /** Whether the metric of a period is computed from all its rows, or from those of its last day. */
  period: z.enum(['whole', 'last_day']).default('whole'),
  /** Columns of the grain over which results may be summed. */
  adds_up_over: z.array(name),
})

const ratio = z.strictObject({
  type: z.literal('ratio'),
  ...described,
  numerator: name,
  denominator: name,
})

/** `metrics.yml`: the definitions of metrics on the marts. */
export const metricsShape = z.strictObject({
  metrics: z.array(z.discriminatedUnion('type', [measure, ratio])).min(1),
})

export type Measure = Readonly<z.output<typeof measure>>
type Ratio = Readonly<z.output<typeof ratio>>
export type Metric = Measure | Ratio
