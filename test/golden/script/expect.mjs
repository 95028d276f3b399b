// The rows that every fact and dimension must hold for a case of this folder,
// from its input as the platform serves it. It shares nothing with the project:
// what it knows is the contract and the descriptions of the models.
//
//     node test/golden/script/expect.mjs awkward [folder]
//
// writes to test/golden/awkward/expected, or to the folder.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyEntities } from './entities.mjs'
import { dimensions } from './dimensions.mjs'
import { facts } from './facts.mjs'
import { creditsText } from './reading.mjs'
import { folder } from './served.mjs'

const output = process.argv[3] ?? join(folder, 'expected')
const made = facts()
await mkdir(output, { recursive: true })
for (const [table, rows] of Object.entries({ ...made, ...dimensions(made), ...emptyEntities() })) {
  const lines = rows.map((row) => `${JSON.stringify(row, countsAsText)}\n`)
  await writeFile(join(output, `${table}.ndjson`), lines.sort().join(''))
}

function countsAsText(name, value) {
  if (typeof value !== 'bigint') return value
  return name === 'billable_tokens' ? creditsText(value) : String(value)
}
