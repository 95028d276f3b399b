import { ApiClient } from '../../src/client/index.ts'
import {
  syncOrganisation,
  type SyncOptions,
  type SyncResult,
} from '../../src/extract/organisation.ts'
import { LandingDatabase } from '../../src/extract/land/raw-writer.ts'
import type { EntitySelection } from '../../src/extract/entities/context.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import { Database, type Row } from '../../src/lib/duckdb.ts'
import { LedgerFile, type Ledger } from '../../src/lake/ledger.ts'
import { testWorld, type TestWorld } from '../support/helpers.ts'

export interface Sync {
  readonly result: SyncResult
  readonly world: TestWorld
}

/** Lands what is due from a server, as `sync` does, with a clock that costs no time. */
export async function syncFrom(
  url: string,
  dataFolder: string,
  options: {
    /** The web application host; without one no readiness reports can be read. */
    readonly appUrl?: string
    readonly key?: string
    readonly world?: TestWorld
    readonly only?: readonly string[]
    readonly plan?: SyncOptions['selection']
    readonly runForMs?: number
    /** How long one response may take, milliseconds. */
    readonly timeoutMs?: number
    /** The entity resources to fetch; none by default. */
    readonly entities?: Partial<EntitySelection>
    readonly runId?: string
    /** Its name in the configuration. */
    readonly organisation?: string
  } = {},
): Promise<Sync> {
  const world = options.world ?? testWorld()
  const deadline = world.now() + (options.runForMs ?? 3_600_000)
  const client = new ApiClient(
    {
      baseUrl: url,
      ...(options.appUrl === undefined ? {} : { appUrl: options.appUrl }),
      credential: options.key ?? 'key',
      rate: 2000,
      concurrency: 4,
      deadline,
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    },
    world,
  )
  const resources = RESOURCES.filter(({ name }) => options.only?.includes(name) ?? true)
  await using database = new LandingDatabase(dataFolder)
  const result = await syncOrganisation({
    database,
    owners: new Map(),
    client,
    world,
    dataFolder,
    organisation: options.organisation ?? 'default',
    runId: options.runId ?? `run-${world.now()}`,
    concurrency: 4,
    selection: { resources, ...options.plan },
    ...(options.entities === undefined ? {} : { entities: { ...NOTHING, ...options.entities } }),
  })
  return { result, world }
}

/** No entity resource. */
export const NOTHING: EntitySelection = {
  resources: [],
  sessions: [],
  messages: [],
  refetch: false,
  areNamed: false,
  organisationOfHookEvents: null,
}

/** Rows of a query on the lake; `lake` in the text stands for the lake's folder. */
export async function readLake(dataFolder: string, sql: string): Promise<Row[]> {
  const database = await Database.open(':memory:')
  try {
    return await database.rows(sql.replaceAll('{lake}', `${dataFolder}/lake`))
  } finally {
    database.close()
  }
}

export async function ledgerOf(dataFolder: string, orgId: string): Promise<Ledger> {
  return LedgerFile.read(dataFolder, orgId)
}
