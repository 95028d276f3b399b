import { rm } from 'node:fs/promises'
import { HISTORY_START, monthOf } from '../lib/days.ts'
import type { RunEvent } from '../lib/events.ts'
import { quarantineDamaged } from '../extract/missing-files.ts'
import { timed, warner, type Job } from './run-context.ts'
import type { Project } from '../model/index.ts'
import { normalize } from '../normalize/normalize.ts'
import type { NormalizeOptions } from '../normalize/plan.ts'
import type { BaseFiles } from '../normalize/state.ts'
import { readProject } from './publish.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import { processLimits } from '../lib/machine.ts'
import type { RawFile } from '../lake/quarantine.ts'
import { spillFolder } from '../lib/spill.ts'
import { present, type View } from './point-in-time.ts'

/** What models are made from. */
export interface Ready {
  /** Days that were lost to damaged files. */
  readonly lost: number
  readonly project: Project
}

/** Base, and the project meanwhile: the one keeps DuckDB busy, the other this thread. */
export async function normalizeAndRead(
  job: Job,
  view: View = present(job.config.dataFolder),
): Promise<Ready> {
  const reading = readProject(job)
  const lost = await normalizeAll(job, view)
  return { lost, project: await reading }
}

export interface Normalization {
  /** Whether memory matters more than time: where no build follows, which takes far more anyway. */
  readonly isFrugal: boolean
  /** The base files of an organisation that are there. Default: they are read. */
  readonly openBase?: (orgId: string) => Promise<BaseFiles>
}

/** Raw → base, every organisation in turn. Returns how many days were lost to damaged files. */
export async function normalizeAll(
  job: Job,
  view: View,
  { isFrugal, openBase }: Normalization = { isFrugal: false },
): Promise<number> {
  const { config } = job
  const { isFrugal: isShort } = processLimits().base
  let lost = 0
  await timed(job, 'normalize', async () => {
    for (const orgId of await knownOrganisations(config.dataFolder)) {
      const options = baseOptions(job, view, orgId)
      const ledger = await view.ledgerOf(orgId)
      const takeOut = async (files: readonly RawFile[]): Promise<readonly RawFile[]> => {
        if (view.asOf !== null) return []
        const damaged = await quarantineDamaged(
          config.dataFolder,
          orgId,
          files,
          ledger,
          warner(job, 'damage'),
        )
        lost += damaged.length
        return damaged
      }
      await normalize(
        { ...options, ledger, isFrugal: isFrugal || isShort, takeOutDamaged: takeOut },
        await openBase?.(orgId),
      )
    }
    await rm(spillFolder(config.dataFolder), { recursive: true, force: true })
  })
  return lost
}

/** What base of an organisation is made with, whatever of it and when. */
export function baseOptions(
  { config, world }: Job,
  { baseIn, asOf }: View,
  orgId: string,
): Pick<NormalizeOptions, 'dataFolder' | 'baseIn' | 'orgId' | 'firstMonth' | 'emit'> {
  const { dataFolder } = config
  const emit = (event: RunEvent): void => {
    const isNews = asOf === null || event.type !== 'warning' // what was known before is none
    if (isNews) world.emit(event)
  }
  return { dataFolder, baseIn, orgId, firstMonth: monthOf(HISTORY_START), emit }
}
