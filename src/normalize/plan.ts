import { createHash } from 'node:crypto'
import { monthOf, type Day } from '../lib/days.ts'
import type { World } from '../lib/world.ts'
import type { Ledger } from '../lake/ledger.ts'
import type { RawFile } from '../lake/quarantine.ts'
import { ENTITIES, type Entity } from './entities.ts'

export interface NormalizeOptions {
  /** The data folder whose raw is read. */
  readonly dataFolder: string
  /** The folder whose `lake/base` is written: the data folder, or one for a view of it. */
  readonly baseIn: string
  readonly orgId: string
  readonly ledger: Ledger
  /** `YYYY-MM` in which history begins. */
  readonly firstMonth: string
  /** Whether memory matters more than time. */
  readonly isLowMemory: boolean
  readonly emit: World['emit']
  /**
   * Proves raw files before they are read; returns those that are in the lake no longer,
   * or null where damaged ones stay in it: then nothing is made.
   */
  readonly takeOutDamaged: (files: readonly RawFile[]) => Promise<readonly RawFile[] | null>
  /** Only months of these resources are made. Absent: of all. */
  readonly only?: ReadonlySet<string>
  /** When it aborts, months that have not been begun stay due. */
  readonly signal?: AbortSignal
}

/** The current version of one day. */
export interface SourceFile {
  readonly resource: string
  readonly day: Day
  readonly file: string
}

/** One base file to be written whole. */
export interface BaseTask {
  readonly entity: Entity
  /** `YYYY-MM`. */
  readonly month: string
  readonly sources: readonly SourceFile[]
  /** Of the statement and the versions it reads: the same fingerprint makes the same file. */
  readonly fingerprint: string
}

/** Fingerprints of the base files that are there, by `baseKey`; empty for one that is not whole. */
export type BaseState = Readonly<Record<string, string>>

export function baseKey(task: Pick<BaseTask, 'entity' | 'month'>): string {
  return `${task.entity.name}/${task.month}`
}

/**
 * The base files whose versions or statement changed since they were written,
 * also to no version at all. Every entity has a file for `firstMonth`, so that a
 * model finds a typed, empty table where nothing has landed.
 */
export function planBase(
  ledger: Ledger,
  state: BaseState,
  firstMonth: string,
  statementOf: (entity: Entity) => string,
): BaseTask[] {
  const byMonth = sourcesByMonth(ledger)
  const monthsOf = [...byMonth.keys(), ...Object.keys(state)].map(monthPart)
  const months = [...new Set([firstMonth, ...monthsOf])].sort()
  return ENTITIES.flatMap((entity) =>
    months.flatMap((month) => {
      const sources = byMonth.get(`${entity.resource}/${month}`) ?? []
      const written = state[baseKey({ entity, month })]
      if (sources.length === 0 && month !== firstMonth && written === undefined) return []
      const fingerprint = fingerprintOf(statementOf(entity), sources)
      return written === fingerprint ? [] : [{ entity, month, sources, fingerprint }]
    }),
  )
}

function sourcesByMonth(ledger: Ledger): Map<string, SourceFile[]> {
  const months = new Map<string, SourceFile[]>()
  const landed = [...ledger.values()].filter((interval) => interval.file !== null)
  for (const { resource, day, file } of landed.sort((a, b) => (a.day < b.day ? -1 : 1))) {
    if (file === null) continue
    const key = `${resource}/${monthOf(day)}`
    const sources = months.get(key)
    if (sources === undefined) months.set(key, [{ resource, day, file }])
    else sources.push({ resource, day, file })
  }
  return months
}

function monthPart(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}

function fingerprintOf(sql: string, sources: readonly SourceFile[]): string {
  const hash = createHash('sha256').update(sql)
  for (const { day, file } of sources) hash.update(`\n${day}/${file}`)
  return hash.digest('hex')
}
