import { lstat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { listIfThere, pathSegment, sha256OfFile } from '../lib/files.ts'
import { foldersIn, timeInName, versionTime } from './layout.ts'
import { moveAside } from './quarantine.ts'

/**
 * One version of a snapshot: the whole history as it was known. It is never changed; its
 * name says when it was written and which bytes it has.
 */
interface SnapshotVersion {
  readonly path: string
  /** Milliseconds since the epoch. */
  readonly writtenAt: number
  /** Hex, of its bytes. */
  readonly sha256: string
}

/** `<data>/snapshots`: the histories of snapshots, which cannot be rebuilt. */
function folderOf(dataFolder: string, name: string): string {
  return join(dataFolder, 'snapshots', pathSegment(name))
}

/** Where a version is to be written. */
export function snapshotPath(
  dataFolder: string,
  name: string,
  { writtenAt, sha256 }: Omit<SnapshotVersion, 'path'>,
): string {
  return join(folderOf(dataFolder, name), `${timeInName(writtenAt)}-${sha256}.parquet`)
}

const VERSION = /^\d{8}T\d{9}Z-(?<sha256>[0-9a-f]{64})\.parquet$/

/** The versions of a snapshot, oldest first. Files with other names are ignored. */
export async function snapshotVersions(
  dataFolder: string,
  name: string,
): Promise<SnapshotVersion[]> {
  const folder = folderOf(dataFolder, name)
  const names = (await listIfThere(folder)).map((entry) => entry.name).sort()
  return names.flatMap((file) => {
    const sha256 = VERSION.exec(file)?.groups?.['sha256']
    return sha256 === undefined
      ? []
      : [{ path: join(folder, file), writtenAt: versionTime(file), sha256 }]
  })
}

/** The names of the snapshots that have versions. */
export function snapshotFolders(dataFolder: string): Promise<string[]> {
  return foldersIn(join(dataFolder, 'snapshots'))
}

/** How a version is damaged; undefined if it is intact. */
export async function snapshotDamage({
  path,
  sha256,
}: SnapshotVersion): Promise<string | undefined> {
  try {
    if (!(await lstat(path)).isFile()) return 'it is not a regular file'
    return (await sha256OfFile(path)) === sha256 ? undefined : 'its SHA-256 is not the recorded one'
  } catch (error) {
    return String(error)
  }
}

/** Moves a damaged version to quarantine. Returns its new path. */
export async function quarantineSnapshot(
  dataFolder: string,
  { path }: SnapshotVersion,
): Promise<string> {
  return moveAside(path, join(dataFolder, 'quarantine', relative(dataFolder, path)))
}

/** Whether damaged versions of the snapshot are in quarantine. */
export async function hasQuarantined(dataFolder: string, name: string): Promise<boolean> {
  return (await listIfThere(folderOf(join(dataFolder, 'quarantine'), name))).length > 0
}
