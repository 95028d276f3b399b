import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, messageOf } from '../core/errors.ts'
import type { World } from '../core/world.ts'
import { Database, listLiteral, literal } from '../store/duckdb.ts'
import { asidePath, pathSegment, readIfThere, settle, writeAtomic } from '../store/files.ts'
import { baseFile, rawFolder } from '../store/lake.ts'
import type { Ledger } from '../store/ledger.ts'
import { statement } from '../store/root.ts'
import { fill } from '../store/template.ts'
import type { Entity } from './entities.ts'
import { baseKey, planBase, type BaseState, type BaseTask } from './plan.ts'

export interface NormalizeOptions {
  readonly dataFolder: string
  readonly orgId: string
  readonly ledger: Ledger
  /** `YYYY-MM` in which history begins. */
  readonly firstMonth: string
  readonly emit: World['emit']
}

/** Writes the base months of one organisation whose raw days changed. Returns how many. */
export async function normalize(options: NormalizeOptions): Promise<number> {
  const { dataFolder, orgId } = options
  const state = await readState(dataFolder, orgId)
  const present = Object.fromEntries(
    Object.entries(state).filter(([key]) => existsSync(pathOf(dataFolder, orgId, key))),
  )
  const tasks = planBase(options.ledger, present, options.firstMonth, statementOf)
  if (tasks.length === 0) return 0
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
  } finally {
    await writeState(dataFolder, orgId, written)
    database.close()
  }
  return tasks.length
}

async function writeMonth(
  options: NormalizeOptions,
  database: Database,
  task: BaseTask,
): Promise<void> {
  const { dataFolder, orgId, emit } = options
  const path = baseFile(dataFolder, orgId, task.entity.name, task.month)
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
