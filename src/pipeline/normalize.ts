import { rm } from 'node:fs/promises'
import { HISTORY_START, monthOf } from '../lib/days.ts'
import type { RunEvent } from '../lib/events.ts'
import { quarantineDamaged } from '../extract/missing-files.ts'
import { timed, warner, type RunContext } from './run-context.ts'
import type { Project } from '../model/index.ts'
import { mapLimit } from '../lib/concurrency.ts'
import { BaseEngine } from '../normalize/engine.ts'
import { normalize } from '../normalize/normalize.ts'
import type { NormalizeOptions } from '../normalize/plan.ts'
import type { BaseFiles } from '../normalize/state.ts'
import { readProject } from './publish.ts'
import { NO_ORGANISATION } from '../lake/layout.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import type { RawFile } from '../lake/quarantine.ts'
import { spillFolder } from '../lib/spill.ts'
import { latestData, type PointInTime } from './point-in-time.ts'

/** What models are made from. */
export interface BaseAndProject {
  /** Days that are missing because of damaged files. */
  readonly missing: number
  readonly project: Project
}

/** Makes base and reads the project concurrently: one uses DuckDB, the other this thread. */
export async function normalizeAndRead(
  context: RunContext,
  pointInTime: PointInTime = latestData(context.config.dataFolder),
): Promise<BaseAndProject> {
  const reading = readProject(context)
  await using engine = new BaseEngine(context.config.dataFolder)
  const missing = await normalizeAll(context, pointInTime, { engine })
  return { missing, project: await reading }
}

/** What base is made with. */
export interface BaseWork {
  readonly engine: BaseEngine
  /** The base files of an organisation that are there. Absent: they are read. */
  readonly base?: (orgId: string) => Promise<BaseFiles>
}

/**
 * Raw → base, every organisation: the next one begins while statements of others run. Returns how
 * many days are missing because of damaged files.
 */
export async function normalizeAll(
  context: RunContext,
  pointInTime: PointInTime,
  { engine, base }: BaseWork,
): Promise<number> {
  const { config } = context
  let missing = 0
  await timed(context, 'normalize', async () => {
    const orgIds = await knownOrganisations(config.dataFolder)
    await mapLimit([NO_ORGANISATION, ...orgIds], ORGANISATIONS_AT_ONCE, async (orgId) => {
      const options = baseOptions(context, pointInTime, orgId)
      const ledger = await pointInTime.ledgerOf(orgId)
      const quarantine = async (files: readonly RawFile[]): Promise<readonly RawFile[]> => {
        if (pointInTime.asOf !== null) return []
        const warn = warner(context, 'damage')
        const damaged = await quarantineDamaged(config.dataFolder, orgId, files, ledger, warn)
        missing += damaged.length
        return damaged
      }
      const all = { ...options, ledger, quarantineDamaged: quarantine }
      await normalize(all, engine, await base?.(orgId))
    })
    await rm(spillFolder(config.dataFolder), { recursive: true, force: true })
  })
  return missing
}

/** Enough to keep the connections of the engine busy. */
const ORGANISATIONS_AT_ONCE = 3

/** The options with which base of an organisation is written. */
export function baseOptions(
  { config, world }: RunContext,
  { baseIn, asOf }: PointInTime,
  orgId: string,
): Pick<NormalizeOptions, 'dataFolder' | 'baseIn' | 'orgId' | 'firstMonth' | 'emit'> {
  const { dataFolder } = config
  const emit = (event: RunEvent): void => {
    // no news: warnings about data of the past, and files without rows
    const isNews = event.type === 'warning' ? asOf === null : orgId !== NO_ORGANISATION
    if (isNews) world.emit(event)
  }
  const firstMonth = orgId === NO_ORGANISATION ? { firstMonth: monthOf(HISTORY_START) } : {}
  return { dataFolder, baseIn, orgId, ...firstMonth, emit }
}
