import { createHash, type Hash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { relative } from 'node:path'
import { z } from 'zod'
import { mapLimit } from '../lib/concurrency.ts'
import { crc32OfFile, pathSegment, type FileSums } from '../lib/files.ts'
import { baseFile, baseMonths } from '../lake/layout.ts'
import { quarantineBase } from '../lake/quarantine.ts'
import { mapOf, stateFile } from '../lake/state-file.ts'

/** One base file as it was written. */
interface BaseFile extends FileSums {
  /** Digest of the statement and the versions that it was made from. */
  readonly fingerprint: string
}

const baseState = stateFile(
  'base',
  mapOf(z.object({ fingerprint: z.string(), sha256: z.string(), crc32: z.number() })),
  1,
)

/** The base files of one organisation, by `<entity>/<month>`. */
export type BaseFiles = Map<string, BaseFile>

/** A file that exists, but may have changed since it was written. */
const UNKNOWN: BaseFile = { fingerprint: '', sha256: '', crc32: 0 }

/** Whether a file is verified to be unchanged since it was written. */
export function isIntact(file: BaseFile | undefined): boolean {
  return file !== undefined && file !== UNKNOWN
}

/** Returns the base files of one organisation. */
export async function readBaseState(
  dataFolder: string,
  orgId: string,
  entities: readonly string[],
  warn: (message: string) => void,
): Promise<BaseFiles> {
  const state = await baseState.read(dataFolder, orgId, warn)
  const months = await mapLimit(entities, FILES_AT_ONCE, async (entity) =>
    (await baseMonths(dataFolder, orgId, entity)).map((month) => ({ entity, month })),
  )
  const files = await mapLimit(months.flat(), FILES_AT_ONCE, async ({ entity, month }) => {
    const key = `${entity}/${month}`
    const path = baseFile(dataFolder, orgId, entity, month)
    const known = state?.get(key)
    if ((await stat(path)).isDirectory()) {
      const to = await quarantineBase(dataFolder, relative(dataFolder, path))
      warn(
        `there was a folder instead of the base file of ${entity}, ${month}; it was moved to ${to}`,
      )
      return [key, UNKNOWN] as const
    }
    const sum = known && (await crc32OfFile(path).catch(() => undefined)) // it cannot be read
    const isAsWritten = known !== undefined && sum === known.crc32
    if (known !== undefined && !isAsWritten) {
      warn(`the base file of ${entity}, ${month}, was damaged, and is written again from raw`)
    }
    return [key, isAsWritten ? known : UNKNOWN] as const
  })
  return new Map(files)
}

const FILES_AT_ONCE = 8

export async function writeBaseState(
  dataFolder: string,
  orgId: string,
  files: ReadonlyMap<string, BaseFile>,
): Promise<void> {
  const inOrder = [...files].sort(([a], [b]) => (a < b ? -1 : 1))
  await baseState.write(dataFolder, orgId, new Map(inOrder))
}

/**
 * Digests of the content of each base entity, over all organisations and months, by its name;
 * `intervals`, which every build writes, is not among them.
 */
export async function baseContents(
  dataFolder: string,
  orgIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, Hash>()
  for (const orgId of [...orgIds].sort()) {
    // a damaged state is reported and written again by `normalize`
    const state = (await baseState.read(dataFolder, orgId)) ?? new Map<string, BaseFile>()
    for (const [key, { sha256 }] of [...state].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const entity = key.split('/', 1)[0] ?? ''
      const hash = hashes.get(entity) ?? createHash('sha256')
      hashes.set(entity, hash.update(`${pathSegment(orgId)}.json ${key} ${sha256}\n`))
    }
  }
  return new Map([...hashes].map(([entity, hash]) => [entity, hash.digest('hex')]))
}
