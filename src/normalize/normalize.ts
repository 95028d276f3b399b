import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, messageOf } from '../core/errors.ts'
import { Database, listLiteral, literal } from '../store/duckdb.ts'
import { asidePath, pathSegment, readIfThere, settle, writeAtomic } from '../store/files.ts'
import { baseFile, rawFolder } from '../store/lake.ts'
import { statement } from '../store/root.ts'
import { fill } from '../store/template.ts'
import { dayKey, planDays, writeDays } from './by-day.ts'
import { SCHEMA_DRIFT } from './drift.ts'
import type { Entity } from './entities.ts'
import { baseKey, planBase } from './plan.ts'
import type { BaseState, BaseTask, NormalizeOptions } from './plan.ts'
import { RESTATEMENTS } from './restatements.ts'

/** Writes the base months of one organisation whose raw days changed. Returns how many. */
export async function normalize(options: NormalizeOptions): Promise<number> {
  const { dataFolder, baseIn, orgId } = options
  const state = await readState(baseIn, orgId)
  const present = Object.fromEntries(
    Object.entries(state).filter(([key]) => existsSync(pathOf(baseIn, orgId, key))),
  )
  const tasks = planBase(options.ledger, present, options.firstMonth, statementOf)
  const dayTasks = [
    ...(await planDays(options, RESTATEMENTS, present)),
    ...(await planDays(options, SCHEMA_DRIFT, present)),
  ]
  if (tasks.length + dayTasks.length === 0) return 0
  const written: Record<string, string> = { ...present }
  const database = await Database.open(':memory:', {
    memoryLimit: '256MB',
    threads: 2,
    isFrugal: true,
    tempDirectory: join(dataFolder, 'state', 'spill'),
  })
  try {
    await database.run(`${RAW_EMPTY};\n${MACROS}`)
    for (const task of tasks) {
      await writeMonth(options, database, task)
      written[baseKey(task)] = task.fingerprint
    }
    for (const task of dayTasks) {
      await writeDays(options, database, task)
      written[dayKey(task)] = task.fingerprint
    }
  } finally {
    await writeState(baseIn, orgId, written)
    database.close()
  }
  return tasks.length + dayTasks.length
}

async function writeMonth(
  options: NormalizeOptions,
  database: Database,
  task: BaseTask,
): Promise<void> {
  const { dataFolder, baseIn, orgId, emit } = options
  const path = baseFile(baseIn, orgId, task.entity.name, task.month)
  const aside = asidePath(path)
  await mkdir(dirname(path), { recursive: true })
  try {
    await database.run(rawView(dataFolder, orgId, task))
    const select = statement(`base/${task.entity.name}`)
    const [count] = await database.rows(fill(WRITE, { select, file: literal(aside) }))
    await settle(aside, path)
    const rows = Number(count?.['Count'] ?? 0)
    emit({ type: 'base.written', orgId, entity: task.entity.name, month: task.month, rows })
  } catch (error) {
    await rm(aside, { force: true })
    throw new AppError(
      `sql/base/${task.entity.name}.sql, month ${task.month}: ${messageOf(error)}`,
      { cause: error },
    )
  }
}

const WRITE = statement('base_write')
const RAW = statement('base_raw')
const RAW_EMPTY = statement('base_raw_empty')
const MACROS = statement('base/_macros')

function rawView(dataFolder: string, orgId: string, task: BaseTask): string {
  if (task.sources.length === 0) return RAW_EMPTY
  const files = task.sources.map(({ resource, day, file }) =>
    join(rawFolder(dataFolder, orgId, resource, day), file),
  )
  return fill(RAW, { org_id: literal(orgId), files: listLiteral(files) })
}

/** What a base file is made by; a change makes every month of the entity due. */
function statementOf(entity: Entity): string {
  return [MACROS, RAW, WRITE, statement(`base/${entity.name}`)].join('\n')
}

function pathOf(dataFolder: string, orgId: string, key: string): string {
  const [entity = '', month = ''] = key.split('/')
  return baseFile(dataFolder, orgId, entity, month)
}

function statePath(dataFolder: string, orgId: string): string {
  return join(dataFolder, 'state', 'base', `${pathSegment(orgId)}.json`)
}

async function readState(dataFolder: string, orgId: string): Promise<BaseState> {
  const text = await readIfThere(statePath(dataFolder, orgId))
  if (text === undefined) return {}
  const state: unknown = JSON.parse(text)
  if (typeof state !== 'object' || state === null) return {}
  return Object.fromEntries(Object.entries(state).map(([key, value]) => [key, String(value)]))
}

async function writeState(dataFolder: string, orgId: string, state: BaseState): Promise<void> {
  await writeAtomic(statePath(dataFolder, orgId), `${JSON.stringify(state, null, 1)}\n`)
}
