import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { listIfThere, pathSegment, sha256OfFile } from '../lib/files.ts'
import { foldersIn, versionTime } from './layout.ts'
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
function snapshotsFolder(dataFolder: string): string {
  return join(dataFolder, 'snapshots')
}

/** Where a version is to be written. */
export function snapshotPath(
  dataFolder: string,
  name: string,
  version: Omit<SnapshotVersion, 'path'>,
): string {
  const time = new Date(version.writtenAt).toISOString().replaceAll(/[-:.]/g, '')
  const folder = join(snapshotsFolder(dataFolder), pathSegment(name))
  return join(folder, `${time}-${version.sha256}.parquet`)
}

const VERSION = /^\d{8}T\d{9}Z-(?<sha256>[0-9a-f]{64})\.parquet$/

/** The versions of a snapshot, oldest first. Files with other names are ignored. */
export async function snapshotVersions(
  dataFolder: string,
  name: string,
): Promise<SnapshotVersion[]> {
  const folder = join(snapshotsFolder(dataFolder), pathSegment(name))
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
  return foldersIn(snapshotsFolder(dataFolder))
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
  const place = path.slice(snapshotsFolder(dataFolder).length + 1)
  return moveAside(path, join(quarantineOf(dataFolder), place))
}

/** Whether damaged versions of the snapshot are in quarantine. */
export async function hasQuarantined(dataFolder: string, name: string): Promise<boolean> {
  return (await listIfThere(join(quarantineOf(dataFolder), pathSegment(name)))).length > 0
}

function quarantineOf(dataFolder: string): string {
  return join(dataFolder, 'quarantine', 'snapshots')
}
