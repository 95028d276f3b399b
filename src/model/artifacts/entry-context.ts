import type { Plan } from '../project/compile.ts'
import type { Project } from '../project/types.ts'

/** What every entry of a manifest is made with. */
export interface EntryContext {
  readonly project: Project
  readonly plan: Plan
  /** What dbt calls a database: the stem of the published file's name. */
  readonly database: string
  readonly sourceSql: (source: string, table: string) => string
  /** Of the text of each seed, and of the yml of each snapshot, by its name. */
  readonly fileChecksums: ReadonlyMap<string, string>
  /** Seconds since the epoch. */
  readonly createdAt: number
}
