import { warner, type World } from '../../lib/world.ts'
import { readSpool } from '../../lake/hook-spool.ts'
import { LedgerFile } from '../../lake/ledger.ts'
import { openRedaction } from '../../lib/secrets/redaction.ts'
import { IntervalRecorder } from '../land/interval-recorder.ts'
import { RawWriter } from '../land/raw-writer.ts'
import { LandingDatabase } from '../land/landing-database.ts'
import { landHookEvents, organisationOf } from './hooks.ts'
import { quarantineDamagedEntities } from './missing-files.ts'

export interface SpoolOptions {
  readonly dataFolder: string
  readonly runId: string
  readonly world: World
  /** See `organisationOfHooks`. */
  readonly organisationOfHookEvents: string | null
  /** See `openRedaction`. */
  readonly redactionKey?: string | null
}

/** Lands the hook events that were recorded, without the network. Does nothing where there are none. */
export async function landSpool({
  dataFolder,
  runId,
  world,
  organisationOfHookEvents,
  redactionKey,
}: SpoolOptions): Promise<void> {
  if ((await readSpool(dataFolder, 1)).length === 0) return
  const warn = warner(world)
  const orgId = await organisationOf(dataFolder, organisationOfHookEvents)
  const ledger = await LedgerFile.open(dataFolder, orgId, warn)
  await quarantineDamagedEntities(dataFolder, orgId, ledger, warn)
  const redaction = await openRedaction(dataFolder, redactionKey)
  const recorder = new IntervalRecorder(ledger, orgId, world, {
    plannedAt: world.now(),
    isForced: false,
  })
  const database = await LandingDatabase.open(dataFolder)
  try {
    const writer = new RawWriter({
      dataFolder,
      orgId,
      ledger: ledger.intervals,
      database,
      warn,
    })
    await landHookEvents({
      dataFolder,
      orgId,
      runId,
      world,
      skewMs: 0,
      writer,
      recorder,
      redaction,
    })
  } finally {
    database.close()
  }
}
