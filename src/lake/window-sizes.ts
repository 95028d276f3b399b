import { z } from 'zod'
import { mapOf, stateFile } from './state-file.ts'

const days = z.number().int().positive()

const windowSize = z.object({
  /** The widest that was answered. */
  maxDays: days,
  /** The narrowest that was refused; null where none above `maxDays` is known. */
  tooWide: days.nullable(),
  learntAt: z.number(),
  /** When a wider one was last refused. */
  probedAt: z.number(),
})

/** What is known of how wide a window of one resource may be. Widths are days, times milliseconds since the epoch. */
export type WindowSize = Readonly<z.infer<typeof windowSize>>

/** By resource. One that is not here was not asked since a window of any was refused for its width. */
export type KnownWindowSizes = ReadonlyMap<string, WindowSize>

/** The window sizes learned for an organisation. */
export const learnedSizes = stateFile<KnownWindowSizes>('windows', mapOf(windowSize))
