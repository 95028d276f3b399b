import { z } from 'zod'
import type { Learned, LearnedLimit } from '../lib/learned.ts'
import { stateFile } from './state-file.ts'

const limit = z.codec(
  z.object({
    rate: z.number().positive(),
    burst: z.number().positive(),
    source: z.enum(['refusals', 'headers']),
    measured_at: z.iso.datetime(),
  }),
  z.custom<LearnedLimit>(),
  {
    decode: ({ measured_at, ...rest }) => ({ ...rest, measuredAt: Date.parse(measured_at) }),
    encode: ({ rate, burst, source, measuredAt }) => ({
      rate: rounded(rate),
      burst: rounded(burst),
      source,
      measured_at: new Date(measuredAt).toISOString(),
    }),
  },
)

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

/** The limits learned for an organisation, by its name in the configuration. */
export const learnedLimits = stateFile<Learned>(
  'governor',
  z.object({ limit: limit.nullable(), concurrency: z.number().int().positive() }),
)
