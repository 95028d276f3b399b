import { openLedger } from '../extract/open-ledger.ts'
import { warner, type RunContext } from './run-context.ts'
import { organisationsInLake } from '../lake/layout.ts'
import { knownOrganisations, LedgerFile } from '../lake/ledger.ts'

/** Holds the ledgers of all organisations but these against the lake: of those whose ledger is lost too. */
export async function openLedgers(
  context: RunContext,
  opened: readonly (string | null)[] = [],
): Promise<void> {
  const { dataFolder } = context.config
  const all = union(await organisationsInLake(dataFolder), await knownOrganisations(dataFolder))
  for (const orgId of all)
    if (!opened.includes(orgId)) await openLedger(dataFolder, orgId, warner(context))
}

/** Whether any day has landed, with rows or without: base and models are made of nothing else. */
export async function hasLanded(dataFolder: string, orgIds: readonly string[]): Promise<boolean> {
  for (const orgId of orgIds) {
    const ledger = await LedgerFile.read(dataFolder, orgId)
    if ([...ledger.values()].some(({ file }) => file !== null)) return true
  }
  return false
}

export function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].sort()
}
