import { z } from 'zod'

const name = z.string().regex(/^[a-z][a-z0-9_]*$/, 'a name is lower case letters, digits and _')
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
  /** What others get wrong with it. */
  mistake: sentence,
}

const measure = z.strictObject({
  type: z.literal('measure'),
  ...described,
  model: name,
  /** Columns that name a row of the model. */
  grain: z.array(name).min(1),
  time: name,
  expression: z
    .string()
    .trim()
    .regex(
      AGGREGATE,
      'write sum(…), count(distinct …) or percentile_cont(0.…) within group (order by …)',
    ),
  /** Of a period, its rows together, or those of its last day alone. */
  period: z.enum(['whole', 'last_day']).default('whole'),
  /** Columns of the grain over whose values results may be added up. */
  adds_up_over: z.array(name),
})

const ratio = z.strictObject({
  type: z.literal('ratio'),
  ...described,
  numerator: name,
  denominator: name,
})

/** `metrics.yml`: what the numbers of the marts mean, one definition each. */
export const metricsShape = z.strictObject({
  metrics: z.array(z.discriminatedUnion('type', [measure, ratio])).min(1),
})

export type Measure = Readonly<z.output<typeof measure>>
export type Ratio = Readonly<z.output<typeof ratio>>
export type Metric = Measure | Ratio
