import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Table } from '../lib/duckdb.ts'
import { UsageError } from '../lib/errors.ts'
import { packageRoot, statement } from '../lib/package.ts'
import { suggestion } from '../lib/text.ts'

/** A ready-made question, and the statement on the marts that answers it. */
export interface Analysis {
  readonly name: string
  /** The first line of its comment. */
  readonly question: string
  /** The rest of the comment: what is counted, how, and when the answer is empty. */
  readonly notes: string
  readonly sql: string
}

/** The ready-made questions of `sql/analyses`, by name. */
export function listAnalyses(): Analysis[] {
  const files = readdirSync(join(packageRoot, 'sql', 'analyses')).sort()
  return files.map((file) => analysisIn(basename(file, '.sql')))
}

/** @throws UsageError for an unknown name, with the nearest one. */
export function analysis(name: string): Analysis {
  const all = listAnalyses()
  const found = all.find((each) => each.name === name)
  if (found !== undefined) return found
  const known = all.map((each) => each.name)
  const hint = `${suggestion(name, known, '')} \`agent-warehouse query --list\` lists them.`
  throw new UsageError(`there is no ready-made question '${name}'`, { hint: hint.trim() })
}

/** The names and the questions, as a result of a query. */
export function analysesTable(): Table {
  const rows = listAnalyses().map(({ name, question }) => [name, question])
  return { columns: ['name', 'question'], types: ['VARCHAR', 'VARCHAR'], rows }
}

function analysisIn(name: string): Analysis {
  const sql = statement(`analyses/${name}`)
  const comment = /^(?:-- .*\n)+/.exec(sql)?.[0] ?? ''
  const [question = '', ...notes] = comment.trimEnd().replaceAll(/^-- /gm, '').split('\n')
  return { name, question, notes: notes.join(' '), sql }
}
