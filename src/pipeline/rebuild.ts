import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { rebuildLedger } from '../extract/open-ledger.ts'
import { timed, warner, type StageResult, type RunContext, union } from './run-context.ts'
import { normalizeAndRead } from './normalize.ts'
import type { BuildChoice } from './publish.ts'
import { organisationsInLake } from '../lake/layout.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import { publishIfLanded, requireOrganisations } from './build.ts'

/** Raw → ledger, base, models → published warehouse, all from scratch. Needs no network. */
export async function rebuild(context: RunContext, options: BuildChoice): Promise<StageResult> {
  const { dataFolder } = context.config
  const inLake = await organisationsInLake(dataFolder)
  const orgIds = requireOrganisations(context, union(inLake, await knownOrganisations(dataFolder)))
  let missing = 0
  await timed(context, 'ledger', async () => {
    for (const orgId of orgIds)
      missing += await rebuildLedger(dataFolder, orgId, warner(context, 'damage'))
  })
  for (const made of [join('lake', 'base'), join('state', 'base')])
    await rm(join(dataFolder, made), { recursive: true, force: true })
  const ready = await normalizeAndRead(context)
  const all = { ...ready, missing: missing + ready.missing }
  return publishIfLanded(context, orgIds, { ...options, fullRefresh: true }, all)
}
