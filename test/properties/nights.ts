import { LandingDatabase } from '../../src/extract/land/raw-writer.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiClient } from '../../src/client/index.ts'
import { addDays, dayOf, eachDay, HISTORY_START, type Day } from '../../src/lib/days.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import { planSync, type PlanOptions } from '../../src/extract/plan/sync-plan.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import { syncOrganisation, type SyncResult } from '../../src/extract/organisation.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { rawFolder } from '../../src/lake/layout.ts'
import { versionsIn } from '../../src/lake/raw-days.ts'
import { intervalKey, LedgerFile, type Ledger } from '../../src/lake/ledger.ts'
import { ORGANISATION, worldOf, type Model } from './platform.ts'

/** The outcome of a night. Keys are `resource/day`. */
export interface Night {
  readonly night: number
  readonly result: SyncResult
  readonly before: Ledger
  readonly after: Ledger
  /** The days due at the start of the night, and those due by the same clock at its end. */
  readonly due: readonly string[]
  readonly left: readonly string[]
  /** Answered, in order. */
  readonly finished: readonly string[]
  readonly failed: readonly string[]
}

const HOUR = 3_600_000

/** One run of `sync` against the model, alone with its data folder. */
export async function syncNight(
  dataFolder: string,
  model: Model,
  night: number,
  only: readonly string[],
): Promise<Night> {
  const world = worldOf(model, night)
  const startedAt = world.now()
  const resources = RESOURCES.filter(({ name }) => only.includes(name))
  const clock = { today: dayOf(startedAt), now: startedAt, resources }
  const before = await LedgerFile.read(dataFolder, ORGANISATION)
  await using database = new LandingDatabase(dataFolder)
  const result = await syncOrganisation({
    database,
    owners: new Map(),
    client: new ApiClient(
      {
        baseUrl: 'http://platform',
        credential: 'key',
        rate: 100_000,
        concurrency: 2,
        deadline: startedAt + 3 * HOUR,
      },
      world,
    ),
    world,
    dataFolder,
    organisation: ORGANISATION,
    runId: `run-${night}`,
    concurrency: 2,
    selection: { resources },
  })
  const after = await LedgerFile.read(dataFolder, ORGANISATION)
  return {
    night,
    result,
    before,
    after,
    due: dueKeys(before, clock),
    left: dueKeys(after, clock),
    finished: keysOf(world.events, 'interval.finished'),
    failed: keysOf(world.events, 'interval.failed'),
  }
}

/** Days up to the one before the night. */
export function daysBefore(night: number): Day[] {
  return eachDay({ first: HISTORY_START, last: addDays(HISTORY_START, Math.floor(night) - 1) })
}

/** The versions of every day of the resource, oldest first, each with its rows in order of text. */
export async function lakeOf(
  dataFolder: string,
  resource: string,
): Promise<(day: Day) => Promise<readonly string[][]>> {
  const database = await Database.open(':memory:')
  const glob = join(rawFolder(dataFolder, ORGANISATION, resource, HISTORY_START), '../*/*.parquet')
  const items = new Map<string, string[]>()
  try {
    const rows = await database.rows(
      `select filename, item from read_parquet('${glob}', filename = true) order by item`,
    )
    for (const { filename, item } of rows) {
      if (typeof filename !== 'string' || typeof item !== 'string') continue
      items.set(filename, [...(items.get(filename) ?? []), item])
    }
  } catch (error) {
    if (!String(error).includes('No files found')) throw error
  } finally {
    database.close()
  }
  return (day) => {
    const folder = rawFolder(dataFolder, ORGANISATION, resource, day)
    const versions = versionsIn(folder)
    return Promise.resolve(versions.map((name) => items.get(join(folder, name)) ?? []))
  }
}

/** A data folder that is removed afterwards: a property has many. */
export async function inFolder<T>(work: (dataFolder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-warehouse-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function dueKeys(ledger: Ledger, options: PlanOptions): string[] {
  return planSync(ledger, options)
    .flatMap(({ resource, days }) => days.map(({ day }) => intervalKey(resource.name, day)))
    .sort()
}

function keysOf(
  events: readonly RunEvent[],
  type: 'interval.finished' | 'interval.failed',
): string[] {
  return events.flatMap((event) =>
    event.type === type ? [intervalKey(event.resource, event.day as Day)] : [],
  )
}
