import { processLimits } from '../lib/machine.ts'

/** What making base may use of the machine. */
export const LIMITS = {
  /** Enough for any number of rows, and for rows of a few megabytes. */
  get memory(): string {
    return processLimits().base.memoryLimit
  },
  get memoryForHugeRows(): string {
    return processLimits().base.memoryForHugeRows
  },
  /** What is made at once, each on one thread. */
  get lanes(): number {
    return processLimits().base.concurrency
  },
  /** Bytes of raw Parquet that are read at once: some 20,000 user days, and twenty times as much in memory. */
  rawBytes: 1_000_000,
}
