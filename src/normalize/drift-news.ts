import { join } from 'node:path'
import { z } from 'zod'
import { listLiteral, literal, type Database } from '../lib/duckdb.ts'
import { pathSegment, readJson, writeAtomic } from '../lib/files.ts'
import { baseFile, baseMonths } from '../lake/layout.ts'
import { statement, fill } from '../lib/package.ts'
import type { NormalizeOptions } from './plan.ts'

const NEWS = statement('drift/news')

/** Differences beyond this number are reported in one line. */
const REPORTED = 10

/** A reported difference, and the last day on which it was known to occur. */
const reported = z.object({ key: z.string(), until: z.string() })

const newsRow = reported.extend({ kind: z.string(), message: z.string() })

/**
 * Warns once of drift that is new or has returned, after all months are written: only then is it
 * known whether it is past. Applies only to the lake itself, not to samples or points in time.
 */
export async function reportDrift(options: NormalizeOptions, database: Database): Promise<void> {
  const { baseIn, dataFolder, orgId, emit } = options
  if (baseIn !== dataFolder) return
  const months = await baseMonths(dataFolder, orgId, 'schema_drift')
  const files = months.map((month) => baseFile(dataFolder, orgId, 'schema_drift', month))
  if (files.length === 0) return
  const path = join(dataFolder, 'state', 'drift', `${pathSegment(orgId)}.json`)
  const before = z
    .array(reported)
    .catch([])
    .parse(
      await readJson(path, (message) => {
        emit({ type: 'warning', message })
      }),
    )
  const values = {
    org_id: literal(orgId),
    reported: `from_json(${literal(JSON.stringify(before))}, '[{"key": "VARCHAR", "until": "DATE"}]')`,
    files: listLiteral(files),
  }
  const news = z.array(newsRow).parse(await database.rows(fill(NEWS, values)))
  if (news.length === 0) return
  for (const { kind, message } of news.slice(0, REPORTED)) {
    emit({ type: 'warning', message, about: 'drift', kind })
  }
  if (news.length > REPORTED) {
    const message = `${orgId}: ${news.length - REPORTED} more fields differ from the documentation; meta.schema_drift lists all`
    emit({ type: 'warning', message, about: 'drift', kind: 'more' })
  }
  const all = new Map([...before, ...news].map(({ key, until }) => [key, { key, until }]))
  await writeAtomic(path, `${JSON.stringify([...all.values()], null, 1)}\n`)
}
