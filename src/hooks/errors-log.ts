import { appendFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../lib/disk.ts'

/** A log that has become longer is set aside as `errors.log.1`; there are two at most. */
const MAX_LOG_BYTES = 256 * 1024
const MAX_LINE = 1000

/**
 * Adds one line to the errors of the hooks, if it can: there is nowhere else to
 * tell. One write per line, so that processes at once do not mix theirs.
 */
export function logError(path: string, now: number, message: string): void {
  const line = message.replaceAll(/\s+/g, ' ').slice(0, MAX_LINE)
  try {
    makeFolder(dirname(path))
    if (sizeOf(path) > MAX_LOG_BYTES) renameSync(path, `${path}.1`)
    appendFileSync(path, `${new Date(now).toISOString()} ${line}\n`, { mode: 0o600 })
  } catch {
    // The disk that an error is about may refuse its line too.
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
