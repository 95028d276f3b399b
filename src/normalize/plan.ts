import { hash } from 'node:crypto'
import { monthOf } from '../lib/days.ts'
import type { Database } from '../lib/duckdb.ts'
import type { World } from '../lib/world.ts'
import type { Interval, Ledger } from '../lake/ledger.ts'
import type { RawFile } from '../lake/quarantine.ts'
import type { DayBatch, DaySource } from './batch.ts'

export interface NormalizeOptions {
  /** The data folder whose raw is read. */
  readonly dataFolder: string
  /** The folder whose `lake/base` is written: the data folder, or the one of a point in time. */
  readonly baseIn: string
  readonly orgId: string
  readonly ledger: Ledger
  /** `YYYY-MM` of which every entity gets a file, even without days. Absent: none. */
  readonly firstMonth?: string
  readonly emit: World['emit']
  /**
   * Verifies raw files before they are read; returns those that are no longer in the lake, or
   * null if damaged ones stay in it: then nothing is written.
   */
  readonly quarantineDamaged: (files: readonly RawFile[]) => Promise<readonly RawFile[] | null>
  /** Only what is made of analytics in these months. Absent: all. */
  readonly only?: ReadonlySet<string>
  /** When it aborts, months that have not been begun stay due. */
  readonly signal?: AbortSignal
}

/** A table of base. It is written by month, and a row is made from its own day alone. */
export interface BaseEntity {
  /** Names its folder in the lake. */
  readonly name: string
  /** The resource that it is made from; null: every one, which its column `resource` names. */
  readonly resource: string | null
  /** Names its statement in errors. */
  readonly errorLabel: string
  /** Digest of the statements that make its rows: a change makes every day due. */
  readonly statementsDigest: () => string
  /** The days that it has. */
  readonly sources: (options: NormalizeOptions) => readonly DaySource[] | Promise<DaySource[]>
  /**
   * Selects the rows of a parsed batch, which may include days that are not due. Null: a later
   * batch returns them.
   */
  readonly select: (database: Database, batch: DayBatch) => string | Promise<string | null>
}

/** The days of intervals, as they are now. */
export function currentDays(
  { ledger }: NormalizeOptions,
  isWanted: (interval: Interval) => boolean,
): DaySource[] {
  return [...ledger.values()].filter(isWanted).flatMap(({ resource, day, file }) => {
    return file === null ? [] : [{ resource, day, files: [file] }]
  })
}

/** One base file to be written whole. */
export interface BaseTask {
  readonly entity: BaseEntity
  /** `YYYY-MM`. */
  readonly month: string
  readonly days: readonly DaySource[]
  /** Digest of the statements and versions: equal fingerprints mean equal files. */
  readonly fingerprint: string
}

/** Fingerprints of the base files that are there, by `baseKey`; empty for one that is not intact. */
export type BaseState = Readonly<Record<string, string>>

export function baseKey(task: Pick<BaseTask, 'entity' | 'month'>): string {
  return `${task.entity.name}/${task.month}`
}

/**
 * The base files of an entity whose versions or statements changed since they were written, even if no
 * version is left.
 */
export async function planBase(
  options: NormalizeOptions,
  entity: BaseEntity,
  state: BaseState,
): Promise<BaseTask[]> {
  const { firstMonth } = options
  const months = new Map<string, DaySource[]>(firstMonth === undefined ? [] : [[firstMonth, []]])
  for (const key of Object.keys(state)) {
    const [name, month = ''] = key.split('/')
    if (name === entity.name) months.set(month, [])
  }
  for (const source of await entity.sources(options)) {
    const month = months.get(monthOf(source.day))
    if (month === undefined) months.set(monthOf(source.day), [source])
    else month.push(source)
  }
  const statements = entity.statementsDigest()
  return [...months.keys()].sort().flatMap((month) => {
    const days = (months.get(month) ?? []).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    const versions = days.map((day) => `${placeOf(day)}/${versionsOf(day)}`)
    const task = { entity, month, days, fingerprint: digestOf([statements, ...versions]) }
    return state[baseKey(task)] === task.fingerprint ? [] : [task]
  })
}

/** Identifies a day among those of all resources. */
export function placeOf({ resource, day }: DaySource): string {
  return `${resource}/${day}`
}

/** Identifies the versions of a day. */
export function versionsOf({ files }: DaySource): string {
  return files.join(' ')
}

/** Digest of statements, which are read on first use. */
export function digestOfStatements(statements: () => readonly string[]): () => string {
  let digest: string | undefined
  return () => (digest ??= digestOf(statements()))
}

export function digestOf(texts: readonly string[]): string {
  return hash('sha256', texts.map((text) => `${text}\n`).join(''))
}
