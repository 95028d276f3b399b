// The rows that marts must hold for a case of this folder, as `expect.mjs` does
// for facts and dimensions:
//
//     node test/golden/script/expect-marts.mjs weeks [folder]
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { anomalies } from './anomalies.mjs'
import { dimensions } from './dimensions.mjs'
import { entityMarts } from './entity-marts.mjs'
import { eventEffect } from './event-effect.mjs'
import { facts } from './facts.mjs'
import { marts } from './marts.mjs'
import { monthMarts } from './month-marts.mjs'
import { policyUsage } from './policy.mjs'
import { policyMarts } from './policy-marts.mjs'
import { rampMarts } from './ramp.mjs'
import { creditsText } from './reading.mjs'
import { folder } from './served.mjs'
import { spendMarts } from './spend-marts.mjs'
import { usageMarts } from './usage-marts.mjs'

/** Columns that are in millionths. */
const CREDITS = /billable_tokens|_amount$|^value$|^service_credits$|^usual_/

const output = process.argv[3] ?? join(folder, 'expected')
const made = facts()
const all = { ...made, ...dimensions(made) }
await mkdir(output, { recursive: true })
const expected = {
  ...marts(all),
  ...monthMarts(all),
  ...spendMarts(all),
  ...usageMarts(all),
  ...rampMarts(all),
  mart_event_effect: eventEffect(all),
  mart_policy_usage: policyUsage(all),
  ...policyMarts(all),
  ...entityMarts(all),
  mart_anomalies: anomalies(all),
}
for (const [table, rows] of Object.entries(expected)) {
  const lines = rows.map((row) => `${JSON.stringify(row, countsAsText)}\n`)
  await writeFile(join(output, `${table}.ndjson`), lines.sort().join(''))
}

function countsAsText(name, value) {
  if (typeof value !== 'bigint') return value
  return CREDITS.test(name) ? creditsText(value) : String(value)
}
