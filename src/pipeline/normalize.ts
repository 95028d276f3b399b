import { rm } from 'node:fs/promises'
import { HISTORY_START, monthOf } from '../lib/days.ts'
import type { RunEvent } from '../lib/events.ts'
import { quarantineDamaged } from '../extract/missing-files.ts'
import { timed, warner, type RunContext } from './run-context.ts'
import type { Project } from '../model/index.ts'
import { normalize } from '../normalize/normalize.ts'
import type { NormalizeOptions } from '../normalize/plan.ts'
import type { BaseFiles } from '../normalize/state.ts'
import { readProject } from './publish.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import type { RawFile } from '../lake/quarantine.ts'
import { spillFolder } from '../lib/spill.ts'
import { latestData, type PointInTime } from './point-in-time.ts'

/** What models are made from. */
export interface Ready {
  /** Days that were lost to damaged files. */
  readonly missing: number
  readonly project: Project
}

/** Makes base and reads the project concurrently: one uses DuckDB, the other this thread. */
export async function normalizeAndRead(
  context: RunContext,
  pointInTime: PointInTime = latestData(context.config.dataFolder),
): Promise<Ready> {
  const reading = readProject(context)
  const missing = await normalizeAll(context, pointInTime)
  return { missing, project: await reading }
}

/**
 * Raw → base, every organisation in turn. Returns how many days were lost to damaged files.
 * `openBase`: the base files of an organisation that are there; default: they are read.
 */
export async function normalizeAll(
  context: RunContext,
  pointInTime: PointInTime,
  openBase?: (orgId: string) => Promise<BaseFiles>,
): Promise<number> {
  const { config } = context
  let missing = 0
  await timed(context, 'normalize', async () => {
    for (const orgId of await knownOrganisations(config.dataFolder)) {
      const options = baseOptions(context, pointInTime, orgId)
      const ledger = await pointInTime.ledgerOf(orgId)
      const quarantine = async (files: readonly RawFile[]): Promise<readonly RawFile[]> => {
        if (pointInTime.asOf !== null) return []
        const damaged = await quarantineDamaged(
          config.dataFolder,
          orgId,
          files,
          ledger,
          warner(context, 'damage'),
        )
        missing += damaged.length
        return damaged
      }
      await normalize(
        { ...options, ledger, quarantineDamaged: quarantine },
        await openBase?.(orgId),
      )
    }
    await rm(spillFolder(config.dataFolder), { recursive: true, force: true })
  })
  return missing
}

/** The options with which base of an organisation is written. */
export function baseOptions(
  { config, world }: RunContext,
  { baseIn, asOf }: PointInTime,
  orgId: string,
): Pick<NormalizeOptions, 'dataFolder' | 'baseIn' | 'orgId' | 'firstMonth' | 'emit'> {
  const { dataFolder } = config
  const emit = (event: RunEvent): void => {
    const isNews = asOf === null || event.type !== 'warning' // what was known before is none
    if (isNews) world.emit(event)
  }
  return { dataFolder, baseIn, orgId, firstMonth: monthOf(HISTORY_START), emit }
}
