import { dirname, join } from 'node:path'
import { listLiteral, literal, type Database } from '../store/duckdb.ts'
import { listIfThere } from '../store/files.ts'
import { baseFile } from '../store/lake.ts'
import { statement } from '../store/root.ts'
import { fill } from '../store/template.ts'
import type { NormalizeOptions } from './plan.ts'

const NEWS = statement('drift/news')
const KNOWN = statement('drift/known')
const NOTHING_KNOWN = "select '', '', '' where false"

/** More than these are told of in one line. */
const TOLD = 10

/** Warns of drift that is seen for the first time, once; `base_rows` is the month to be written. */
export async function tellOfNews(
  options: NormalizeOptions,
  database: Database,
  madeFrom: readonly string[],
): Promise<void> {
  if (madeFrom.length === 0) return
  const files = await monthsThere(options)
  const known = files.length === 0 ? NOTHING_KNOWN : fill(KNOWN, { files: listLiteral(files) })
  const values = { org_id: literal(options.orgId), made_from: listLiteral(madeFrom), known }
  const news = await database.table(fill(NEWS, values))
  const messages = news.rows.flat().map(String)
  for (const message of messages.slice(0, TOLD)) options.emit({ type: 'warning', message })
  if (messages.length <= TOLD) return
  const message = `${options.orgId}: ${messages.length - TOLD} more fields are not as documented; meta.schema_drift has all`
  options.emit({ type: 'warning', message })
}

async function monthsThere({ baseIn, orgId }: NormalizeOptions): Promise<string[]> {
  const folder = dirname(dirname(baseFile(baseIn, orgId, 'schema_drift', '0000-00')))
  const months = await listIfThere(folder)
  const files = await Promise.all(
    months.map(async ({ name }) =>
      (await listIfThere(join(folder, name)))
        .filter((file) => file.name.endsWith('.parquet'))
        .map((file) => join(folder, name, file.name)),
    ),
  )
  return files.flat()
}
