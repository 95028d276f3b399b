import { z } from 'zod'
import { isDay, type Day } from '../lib/days.ts'

/** A journal line that says that the day is missing again. */
export interface Forgotten {
  readonly resource: string
  readonly day: Day
  readonly status: 'missing'
  /** The version that was lost: none before it may take its place. */
  readonly file?: string
}

const text = z.string().min(1)
const count = z.number().int().nonnegative()
const day = z.custom<Day>((value) => typeof value === 'string' && isDay(value))
const fileName = text.refine((name) => !/[/\\]/.test(name))

const suspect = z.object({ digest: text, rowCount: count, seenAt: z.number() })

const landed = z.looseObject({
  resource: text,
  day,
  status: z.enum(['landed', 'empty']),
  fetchedAt: z.number(),
  rowCount: count.nullable(),
  versions: count,
  attempts: count,
  requestId: z.string().nullable(),
  file: fileName,
  sha256: text,
  digest: text,
  error: z.string().nullable(),
  witness: z.exactOptional(z.string().nullable()),
  refusedAt: z.exactOptional(z.number()),
  suspect: z.exactOptional(suspect),
})

const failed = landed.extend({
  status: z.literal('failed'),
  fetchedAt: z.null(),
  rowCount: z.null(),
  file: z.null(),
  sha256: z.null(),
  digest: z.null(),
})

const forgotten: z.ZodType<Forgotten> = z.object({
  resource: text,
  day,
  status: z.literal('missing'),
  file: z.exactOptional(fileName),
})

const line = z.union([landed, failed, forgotten])

/** What a line of the journal says; undefined for a line that no ledger wrote so. */
export function readLine(json: string): z.infer<typeof line> | undefined {
  try {
    return line.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}
