import { z } from 'zod'
import { isDay, type Day } from '../lib/days.ts'
import { jsonObject } from '../lib/json.ts'

const text = z.string().min(1)
const count = z.number().int().nonnegative()
const fileName = text.refine((name) => !/[/\\]/.test(name))

/** `YYYY-MM-DD`, a day that exists. */
export const dayShape = z.custom<Day>((value) => typeof value === 'string' && isDay(value))

const pendingConfirmation = z.object({
  /** Digest of the rows, independent of their order. */
  digest: text,
  rowCount: count,
  /** When they were first found, by the platform's clock, milliseconds since the epoch. */
  seenAt: z.number(),
})

/** Rows that are accepted once they are served a second time. */
export type PendingConfirmation = Readonly<z.infer<typeof pendingConfirmation>>

const interval = z.object({
  resource: text,
  day: dayShape,
  /** `failed` only while nothing has ever landed for the day. */
  status: z.enum(['landed', 'empty', 'failed']),
  /** When the platform last served the current version; null while failed. */
  fetchedAt: z.number().nullable(),
  rowCount: count.nullable(),
  /** Versions in the lake. */
  versions: count,
  /** Times the day was asked for, failures counted. */
  attempts: count,
  requestId: z.string().nullable(),
  /** File name of the current version, in the day's folder of the lake. */
  file: fileName.nullable(),
  /** SHA-256 of the file's bytes, hex. */
  sha256: text.nullable(),
  /** Digest of the rows, independent of their order. */
  digest: text.nullable(),
  /** Why the last attempt failed; null when it did not. */
  error: z.string().nullable(),
  /**
   * The version of the day's totals when the first of several pages was requested, until it is
   * verified that the totals stayed the same up to the last page; else null.
   */
  witness: z.exactOptional(z.string().nullable()),
  /** When the platform last refused to serve the landed day again, milliseconds since the epoch. */
  refusedAt: z.exactOptional(z.number()),
  /** Rows of a settled day that came back much smaller, until another recheck confirms them. */
  suspect: z.exactOptional(pendingConfirmation),
})

/** What is known of one organisation's resource on one day. No entry: the day is missing. */
export type Interval = Readonly<z.infer<typeof interval>>

/** A failed day has no file data; any other day has all of it. */
function isConsistent({ status, fetchedAt, rowCount, file, sha256, digest }: Interval): boolean {
  const isFailed = status === 'failed'
  const isNull = [fetchedAt, file, sha256, digest].map((value) => value === null)
  return isNull.every((each) => each === isFailed) && !(isFailed && rowCount !== null)
}

const forgotten = z.object({
  resource: text,
  day: dayShape,
  status: z.literal('missing'),
  /** The version that is missing. No earlier version may take its place. */
  file: z.exactOptional(fileName),
})

/** A journal line that says that the day is missing again. */
export type Forgotten = Readonly<z.infer<typeof forgotten>>

const line = z.union([interval.loose().refine(isConsistent), forgotten])

export function readLine(json: string): Interval | Forgotten | undefined {
  return line.safeParse(jsonObject(json)).data
}
