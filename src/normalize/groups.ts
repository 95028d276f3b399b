import { join } from 'node:path'
import { mapLimit } from '../lib/concurrency.ts'
import { packed } from '../lib/grouped.ts'
import { rawFolder } from '../lake/layout.ts'
import { bytesOfVersion } from '../lake/merged.ts'
import type { DaySource } from './batch.ts'
import { placeOf, type BaseTask, type NormalizeOptions } from './plan.ts'
import { processLimits } from '../lib/machine.ts'

/** A base file to be written, and what it is made of. */
export interface MonthTask extends BaseTask {
  /** Days to copy from the existing file. */
  readonly reused: readonly DaySource[]
  /** All other days. */
  readonly due: readonly DaySource[]
  /** SQL of the relation with the due rows, by each resource that has been read. */
  readonly parts: Map<string, string>
}

interface SizedDay extends DaySource {
  readonly bytes: number
}

/** One month of a resource, for all entities that are made from it. */
interface ResourceMonth {
  readonly bytes: number
  readonly resource: string
  /** `YYYY-MM`. */
  readonly month: string
  readonly tasks: readonly MonthTask[]
  /** The days to read, each once, in order. */
  readonly days: readonly SizedDay[]
}

/**
 * Months of one resource that are made by the same statements: as many as fit into one read, or
 * a single larger one.
 */
export type MonthGroup = readonly ResourceMonth[]

/** The resources to read for a file: at least one, because its rows define the columns. */
export function resourcesOf({ entity, due }: MonthTask): ReadonlySet<string> {
  const resources = due.map(({ resource }) => resource)
  return new Set(resources.length === 0 ? [entity.resource ?? ''] : resources)
}

export async function groupsOf(
  options: NormalizeOptions,
  tasks: readonly MonthTask[],
): Promise<MonthGroup[]> {
  const months = new Map<string, { resource: string; month: string; tasks: MonthTask[] }>()
  for (const task of tasks) {
    for (const resource of resourcesOf(task)) {
      const key = `${resource} ${task.month}`
      const own = months.get(key) ?? { resource, month: task.month, tasks: [] }
      months.set(key, own)
      own.tasks.push(task)
    }
  }
  const inOrder = [...months].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, month]) => month)
  const sized = await mapLimit(inOrder, MONTHS_AT_ONCE, async (month) => {
    const days = await sizedDays(options, month)
    return { ...month, days, bytes: days.reduce((sum, { bytes }) => sum + bytes, 0) }
  })
  const resources = new Set(sized.map(({ resource }) => resource))
  return [...resources].flatMap((name) =>
    packed(
      sized.filter(({ resource }) => resource === name),
      LIMITS.rawBytes,
    ),
  )
}

const MONTHS_AT_ONCE = 4

/** The due days of a resource, each with all versions that a task reads. */
async function sizedDays(
  { dataFolder, orgId }: NormalizeOptions,
  { resource, tasks }: Pick<ResourceMonth, 'resource' | 'tasks'>,
): Promise<SizedDay[]> {
  const days = new Map<string, DaySource>()
  for (const source of tasks.flatMap(({ due }) => due)) {
    const known = days.get(source.day)?.files.length ?? 0
    if (source.resource === resource && source.files.length > known) days.set(source.day, source)
  }
  const inOrder = [...days.values()].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  return mapLimit(inOrder, DAYS_AT_ONCE, async (source) => {
    const folder = rawFolder(dataFolder, orgId, resource, source.day)
    const sizes = source.files.map((file) => {
      return bytesOfVersion(join(folder, file)).catch(() => 0) // its reader reports it
    })
    return { ...source, bytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) }
  })
}

const DAYS_AT_ONCE = 31

/** Resource limits for making base. */
export const LIMITS = {
  /** Enough for any number of rows, and for rows of a few megabytes. */
  get memory(): string {
    return processLimits().base.memoryLimit
  },
  get memoryForHugeRows(): string {
    return processLimits().base.memoryForHugeRows
  },
  /** How many groups are made concurrently, each on one thread. */
  get workers(): number {
    return processLimits().base.concurrency
  },
  /** Bytes of raw Parquet per read: some 6,000 user days, and ten times as much in memory. */
  rawBytes: 1_000_000,
}
