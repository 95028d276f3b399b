import { readFileSync } from 'node:fs'
import { baseFile } from '../lake/layout.ts'
import { writeAtomic, type FileSums } from '../lib/files.ts'
import type { BaseTask, NormalizeOptions } from './plan.ts'

type Place = Pick<NormalizeOptions, 'baseIn' | 'orgId' | 'emit'>

interface EmptyFile {
  readonly bytes: Uint8Array
  readonly sums: FileSums
}

/**
 * The base files that no day is in. Nothing in them is of the organisation or the month: what was
 * made for one is copied for the next, which takes no statement.
 */
export class EmptyFiles {
  readonly #files = new Map<string, EmptyFile>()

  /** Keeps the file of a task that was made, if it has no days. */
  keep({ baseIn, orgId }: Place, task: BaseTask, sums: FileSums): void {
    if (task.days.length > 0 || this.#files.has(keyOf(task))) return
    const bytes = readFileSync(baseFile(baseIn, orgId, task.entity.name, task.month))
    this.#files.set(keyOf(task), { bytes, sums })
  }

  /** Writes the file of a task as a copy; undefined if it has days, or none was made yet. */
  async copy({ baseIn, orgId, emit }: Place, task: BaseTask): Promise<FileSums | undefined> {
    const file = task.days.length > 0 ? undefined : this.#files.get(keyOf(task))
    if (file === undefined) return undefined
    const { entity, month } = task
    await writeAtomic(baseFile(baseIn, orgId, entity.name, month), file.bytes)
    emit({ type: 'base.written', orgId, entity: entity.name, month, rows: 0 })
    return file.sums
  }
}

function keyOf({ entity, fingerprint }: BaseTask): string {
  return `${entity.name} ${fingerprint}`
}
