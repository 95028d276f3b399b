import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError, messageOf } from '../lib/errors.ts'
import { temporaryPath, putInPlace, removeFile, syncedSums, type FileSums } from '../lib/files.ts'
import { baseFile } from '../lake/layout.ts'
import type { NormalizeOptions } from './plan.ts'

/** Which base file. */
export interface BaseMonth {
  readonly entity: string
  /** `YYYY-MM`. */
  readonly month: string
  /** What it is made by, for an error. */
  readonly madeBy: string
}

/** What makes a base file: reads the one in place, if any, writes the one aside, returns its rows. */
export type BaseWriter = (paths: { inPlace: string; temporary: string }) => Promise<number>

/**
 * Writes a base file aside and then in its place, and tells of it.
 *
 * @throws AppError that names the month; the file in place is as it was.
 */
export async function putBaseFile(
  { baseIn, orgId, emit }: NormalizeOptions,
  { entity, month, madeBy }: BaseMonth,
  write: BaseWriter,
): Promise<FileSums> {
  const inPlace = baseFile(baseIn, orgId, entity, month)
  const temporary = temporaryPath(inPlace)
  return withPlace(madeBy, month, async () => {
    try {
      await mkdir(dirname(inPlace), { recursive: true })
      const rows = await write({ inPlace, temporary })
      const written = await syncedSums(temporary)
      await putInPlace(temporary, inPlace)
      emit({ type: 'base.written', orgId, entity, month, rows })
      return written
    } catch (error) {
      await removeFile(temporary)
      throw error
    }
  })
}

/** @throws AppError that names the statement and the month. */
export async function withPlace<T>(
  madeBy: string,
  month: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new AppError(`${madeBy}, month ${month}: ${messageOf(error)}`, { cause: error })
  }
}
