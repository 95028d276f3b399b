import { ExitCode } from '../lib/errors.ts'
import { warehousePath } from '../lake/layout.ts'
import { readRecords, recordPath, verifyFile } from '../lake/published-record.ts'
import { keptFiles } from '../lake/published.ts'
import { snapshotDamage, snapshotFolders, snapshotVersions } from '../lake/snapshot-versions.ts'
import { ok, warning, wrong, type Finding } from './finding.ts'

/** Whether a rollback could put back the earlier files that are kept. */
export async function checkKept(dataFolder: string): Promise<Finding[]> {
  const target = warehousePath(dataFolder)
  const kept = await keptFiles(target)
  if (kept.length > 0 && (await readRecords(target)).length === 0) {
    const message = `there is no record of what was published: no rollback can prove the ${kept.length} earlier files`
    return [warning('rollback', message, `Restore ${recordPath(target)} from a backup.`)]
  }
  const findings: Finding[] = []
  for (const { path, runId } of kept) {
    const verdict = await verifyFile(target, path)
    if (verdict.state === 'published' && verdict.record.runId === runId) continue
    const reason = verdict.state === 'changed' ? verdict.reason : 'another run published it'
    const message = `${path} is not the file that run ${runId} published: ${reason}`
    findings.push(warning('rollback', message, 'No rollback can put it back: delete it.'))
  }
  return findings
}

/** Whether the history of snapshots is as it was written. */
export async function checkSnapshots(dataFolder: string): Promise<Finding[]> {
  const findings: Finding[] = []
  let versions = 0
  for (const name of await snapshotFolders(dataFolder)) {
    for (const version of await snapshotVersions(dataFolder, name)) {
      versions += 1
      const damage = await snapshotDamage(version)
      if (damage === undefined) continue
      const hint =
        'Restore it from a backup, or let the next build continue from the published file or the version before.'
      const message = `${version.path}: ${damage}`
      findings.push(wrong('snapshots', ExitCode.partial, message, hint))
    }
  }
  if (findings.length > 0 || versions === 0) return findings
  return [ok('snapshots', `all ${versions} versions are as they were written`)]
}
