import { mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError, messageOf } from '../core/errors.ts'
import { asidePath, crc32OfFile, settle, sha256OfFile } from '../store/files.ts'
import { baseFile } from '../store/lake.ts'
import type { NormalizeOptions } from './plan.ts'

/** Which base file. */
export interface BaseMonth {
  readonly entity: string
  /** `YYYY-MM`. */
  readonly month: string
  /** What it is made by, for an error. */
  readonly madeBy: string
}

/** What tells the bytes of a base file. */
export interface WrittenFile {
  /** Hex. What is made from the file is made again when it changes. */
  readonly sha256: string
  /** Told in an eighth of the time: every run holds every base file against it. */
  readonly crc32: number
}

/** What makes a base file: reads the one in place, if any, writes the one aside, returns its rows. */
export type BaseWriter = (paths: { inPlace: string; aside: string }) => Promise<number>

/**
 * Writes a base file aside and then in its place, and tells of it.
 *
 * @throws AppError that names the month; the file in place is as it was.
 */
export async function putBaseFile(
  { baseIn, orgId, emit }: NormalizeOptions,
  { entity, month, madeBy }: BaseMonth,
  write: BaseWriter,
): Promise<WrittenFile> {
  const inPlace = baseFile(baseIn, orgId, entity, month)
  const aside = asidePath(inPlace)
  try {
    await mkdir(dirname(inPlace), { recursive: true })
    const rows = await write({ inPlace, aside })
    const written = { sha256: await sha256OfFile(aside), crc32: await crc32OfFile(aside) }
    await settle(aside, inPlace)
    emit({ type: 'base.written', orgId, entity, month, rows })
    return written
  } catch (error) {
    await rm(aside, { force: true })
    throw new AppError(`${madeBy}, month ${month}: ${messageOf(error)}`, { cause: error })
  }
}
