import { join } from 'node:path'
import { z } from 'zod'
import { listLiteral, literal } from '../lib/duckdb.ts'
import { pathSegment, readJson, writeAtomic } from '../lib/files.ts'
import { baseFile } from '../lake/layout.ts'
import { statement, fill } from '../lib/package.ts'
import { warner } from '../lib/world.ts'
import { SCHEMA_DRIFT } from './drift.ts'
import type { BaseEngine } from './engine.ts'
import { digestOf, type NormalizeOptions } from './base-plan.ts'
import type { BaseFiles } from './state.ts'

/** Differences beyond this number are reported in one line. */
const REPORTED = 10

/** What the keys of its base files begin with. */
const DRIFT = `${SCHEMA_DRIFT.name}/`

/** A reported difference, and the last day on which it was known to occur. */
const reported = z.object({ key: z.string(), until: z.string() })

/** All reported differences, and the digest of the files that they were in. */
const state = z
  .object({ files: z.string(), reported: z.array(reported) })
  .catch({ files: '', reported: [] })

const newsRow = reported.extend({ kind: z.string(), message: z.string() })

/**
 * Warns once of drift that is new or has returned, after all months are written: only then is it
 * known whether it is past. Applies only to the lake itself, not to samples or points in time.
 */
export async function reportDrift(
  { baseIn, dataFolder, orgId, emit }: NormalizeOptions,
  engine: BaseEngine,
  present: BaseFiles,
): Promise<void> {
  if (baseIn !== dataFolder) return
  const own = [...present].filter(([key]) => key.startsWith(DRIFT)).sort()
  if (own.length === 0) return
  const fileOf = (month: string): string => baseFile(dataFolder, orgId, SCHEMA_DRIFT.name, month)
  const path = join(dataFolder, 'state', 'drift', `${pathSegment(orgId)}.json`)
  const read = await readJson(path, warner({ emit }))
  // an earlier version kept a list alone
  const before = state.parse(Array.isArray(read) ? { files: '', reported: read } : read)
  const files = digestOf(own.map(([key, { sha256 }]) => `${key} ${sha256}`))
  if (files === before.files) return
  const values = {
    org_id: literal(orgId),
    reported: `from_json(${literal(JSON.stringify(before.reported))}, '[{"key": "VARCHAR", "until": "DATE"}]')`,
    files: listLiteral(own.map(([key]) => fileOf(key.slice(DRIFT.length)))),
  }
  const rows = await engine.use(({ database }) =>
    database.rows(fill(statement('drift/news'), values)),
  )
  const news = z.array(newsRow).parse(rows)
  for (const { kind, message } of news.slice(0, REPORTED)) {
    emit({ type: 'warning', message, about: 'drift', kind })
  }
  if (news.length > REPORTED) {
    const message = `${orgId}: ${news.length - REPORTED} more fields differ from the documentation; meta.schema_drift lists all`
    emit({ type: 'warning', message, about: 'drift', kind: 'more' })
  }
  const all = new Map([...before.reported, ...news].map(({ key, until }) => [key, { key, until }]))
  await writeAtomic(path, `${JSON.stringify({ files, reported: [...all.values()] }, null, 1)}\n`)
}
