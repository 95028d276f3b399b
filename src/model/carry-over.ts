import { existsSync } from 'node:fs'
import { messageOf } from '../core/errors.ts'
import { identifier, literal, type Database } from '../store/duckdb.ts'
import type { BuildContext } from './context.ts'
import type { ModelNode } from './types.ts'
import type { Work } from './work.ts'

/**
 * Takes the tables of snapshots over from the published file where the file in
 * use was begun anew: nothing else knows what they hold.
 */
export async function carryOver(
  { db, emit }: BuildContext,
  target: string,
  { chosen, problem }: Pick<Work, 'chosen' | 'problem'>,
): Promise<void> {
  const snapshots = chosen.filter(({ snapshot }) => snapshot !== null)
  const here = await tablesOf(db, snapshots, 'current_database()')
  const lacking = snapshots.filter(({ relation }) => !here.has(relation))
  if (lacking.length === 0 || !existsSync(target)) return
  const lost = (reason: string): void => {
    const names = lacking.map(({ name }) => name).join(', ')
    emit({ type: 'warning', message: `snapshots begin anew: ${names}: ${reason}` })
  }
  if (problem !== null) {
    lost(problem)
    return
  }
  try {
    await copyTables(db, target, lacking)
  } catch (error) {
    lost(messageOf(error))
  }
}

async function copyTables(
  db: Database,
  target: string,
  lacking: readonly ModelNode[],
): Promise<void> {
  await db.run(`attach ${literal(target)} as published (read_only)`)
  try {
    const there = await tablesOf(db, lacking, literal('published'))
    for (const { relation, schema } of lacking.filter((node) => there.has(node.relation))) {
      await db.run(`create schema if not exists ${identifier(schema)};
        create table ${relation} as from published.${relation}`)
    }
  } finally {
    await db.run('detach published')
  }
}

/** Those of the relations that are tables of the database. */
async function tablesOf(
  db: Database,
  nodes: readonly ModelNode[],
  database: string,
): Promise<Set<string>> {
  const rows = await db.rows(
    `select schema_name || '.' || table_name as relation
    from duckdb_tables() where database_name = ${database}`,
  )
  const found = new Set(rows.map(({ relation }) => relation))
  return new Set(nodes.map(({ relation }) => relation).filter((relation) => found.has(relation)))
}
