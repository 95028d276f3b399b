// The measure of landing: the same pages as raw Parquet, a file a day. Arguments: address, key,
// number of days, data folder.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import { Database, literal } from '../../dist/lib/duckdb.js'
import { addDays, HISTORY_BEGINS } from '../lib.mjs'

const [url, key, days, dataFolder] = process.argv.slice(2)
const folder = join(dataFolder, 'lake', 'raw', 'users')
await mkdir(folder, { recursive: true })
const database = await Database.open(':memory:')
for (let index = 0; index < Number(days); index += 1) {
  const day = addDays(HISTORY_BEGINS, index)
  const lines = join(folder, `${day}.ndjson`)
  await writeFile(lines, (await rowsOf(day)).map((row) => `${JSON.stringify(row)}\n`).join(''))
  const items = `read_json_objects(${literal(lines)}, format = 'newline_delimited')`
  await database.run(`copy (select json as item, now() as fetched_at from ${items})
    to ${literal(join(folder, `${day}.parquet`))} (format parquet, compression zstd)`)
}
database.close()

async function rowsOf(day) {
  const headers = { authorization: `Bearer ${key}` }
  const rows = []
  for (let cursor = ''; ;) {
    const query = `startDate=${day}&endDate=${day}&limit=100${cursor}`
    const { body } = await request(`${url}/api/v1/analytics/users?${query}`, { headers })
    const { data, meta } = await body.json()
    rows.push(...data)
    if (!meta.has_more) return rows
    cursor = `&cursor=${encodeURIComponent(meta.next_cursor)}`
  }
}
