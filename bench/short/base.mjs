// Base of one organisation, from its raw files. Argument: data folder.
import { join } from 'node:path'
import { BaseEngine } from '../../dist/normalize/batch.js'
import { normalize } from '../../dist/normalize/normalize.js'
import { knownOrganisations, LedgerFile } from '../../dist/lake/ledger.js'
import { discard, HISTORY_BEGINS } from '../lib.mjs'

const [dataFolder] = process.argv.slice(2)
for (const made of ['lake', 'state']) await discard(join(dataFolder, made, 'base'))
const [orgId] = await knownOrganisations(dataFolder)
const engine = new BaseEngine(dataFolder)
const options = {
  dataFolder,
  baseIn: dataFolder,
  orgId,
  ledger: await LedgerFile.read(dataFolder, orgId),
  firstMonth: HISTORY_BEGINS.slice(0, 7),
  findDamaged: () => Promise.resolve([]),
  emit: () => undefined,
}
const written = await normalize([{ options }], engine)
await engine[Symbol.asyncDispose]()
if (written === 0) throw new Error('nothing was made')
