import { join, relative } from 'node:path'
import { finishMerges } from '../lake/merge-files.ts'
import { moveAside, quarantine } from '../lake/quarantine.ts'
import type { Warn } from '../lib/world.ts'
import { verifyVersions } from './land/verify-versions.ts'

/**
 * Completes what a killed `compact` left, before the lake is compared with the ledger. The rows of
 * merged files whose manifest was lost are verified. The caller holds the lock.
 */
export async function tidyMergedFiles(
  dataFolder: string,
  orgId: string,
  warn: Warn,
): Promise<void> {
  const { restored, unreadable } = await finishMerges(dataFolder, orgId)
  for (const path of unreadable) {
    const name = relative(join(dataFolder, 'lake', 'raw'), path)
    const to = relative(dataFolder, await moveAside(path, join(dataFolder, 'quarantine', name)))
    warn(`${name} of ${orgId} does not list the versions in it; it was moved to ${to}`)
  }
  if (restored.length === 0) return
  const { damaged } = await verifyVersions(dataFolder, orgId, restored)
  for (const each of damaged) warn(await quarantine(dataFolder, orgId, each))
}
