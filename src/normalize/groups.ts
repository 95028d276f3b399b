import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Day } from '../lib/days.ts'
import { mapLimit } from '../lib/concurrency.ts'
import { rawFolder } from '../lake/layout.ts'
import { LIMITS } from './limits.ts'
import type { BaseTask, NormalizeOptions, SourceFile } from './plan.ts'

/** A base file to be written, and what it is made of. */
export interface MonthTask extends BaseTask {
  /** Days that the file in place has as they are. */
  readonly kept: readonly Day[]
  /** The versions of all other days. */
  readonly due: readonly SourceFile[]
}

interface Sized {
  readonly bytes: number
}

/** One month of all entities of a resource. */
export interface ResourceMonth extends Sized {
  readonly resource: string
  /** `YYYY-MM`. */
  readonly month: string
  readonly tasks: readonly MonthTask[]
  /** The versions that are read, each once, in the order of their days. */
  readonly files: readonly (SourceFile & Sized)[]
}

/**
 * Months of one resource that are made by the same statements: as many as are
 * read at once, or one that is larger.
 */
export type MonthGroup = readonly ResourceMonth[]

/** Deals the tasks out. */
export async function groupsOf(
  options: NormalizeOptions,
  tasks: readonly MonthTask[],
): Promise<MonthGroup[]> {
  const months = new Map<string, MonthTask[]>()
  for (const task of tasks) {
    const key = `${task.entity.resource} ${task.month}`
    months.set(key, [...(months.get(key) ?? []), task])
  }
  const inOrder = [...months].sort(([a], [b]) => (a < b ? -1 : 1))
  const sized = await mapLimit(inOrder, MONTHS_AT_ONCE, ([, own]) => sizedMonth(options, own))
  const resources = new Set(sized.map(({ resource }) => resource))
  return [...resources].flatMap((name) => packed(sized.filter(({ resource }) => resource === name)))
}

const MONTHS_AT_ONCE = 4

/** Items in turn, as many together as are read at once. */
export function packed<T extends Sized>(items: readonly T[]): T[][] {
  const packs: T[][] = []
  let bytes = 0
  for (const item of items) {
    const pack = packs.at(-1)
    bytes += item.bytes
    if (pack !== undefined && bytes <= LIMITS.rawBytes) pack.push(item)
    else {
      packs.push([item])
      bytes = item.bytes
    }
  }
  return packs
}

async function sizedMonth(
  { dataFolder, orgId }: NormalizeOptions,
  tasks: readonly MonthTask[],
): Promise<ResourceMonth> {
  const due = new Map(tasks.flatMap((task) => task.due.map((source) => [source.day, source])))
  const files = await mapLimit(due.values(), FILES_AT_ONCE, async (source) => {
    const folder = rawFolder(dataFolder, orgId, source.resource, source.day)
    const file = await stat(join(folder, source.file)).catch(() => null) // its reader tells of it
    return { ...source, bytes: file?.size ?? 0 }
  })
  const [first] = tasks
  return {
    resource: first?.entity.resource ?? '',
    month: first?.month ?? '',
    tasks,
    files: files.sort((a, b) => (a.day < b.day ? -1 : 1)),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

const FILES_AT_ONCE = 31
