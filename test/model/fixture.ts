import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RunEvent } from '../../src/lib/events.ts'
import {
  buildAndPublish,
  planOfBuild,
  type PlannedModel,
  type BuildResult,
} from '../../src/model/build/build.ts'
import { loadProject } from '../../src/model/project/project.ts'
import type { Project } from '../../src/model/project/types.ts'
import type { BuildOptions } from '../../src/model/shared/context.ts'
import { Database, literal, type Row } from '../../src/lib/duckdb.ts'
import { makeWritable, sha256OfFile } from '../../src/lib/files.ts'
import { readRecords, writeRecords } from '../../src/lake/published.ts'
import { folderOfFile } from '../support/folders.ts'

export type Files = Readonly<Record<string, string>>

export const PROJECT_YML = `name: tiny
model-paths: ['models']
models:
  tiny:
    staging:
      +materialized: view
      +schema: staging
    marts:
      +materialized: table
      +tags: ['mart']
vars:
  smallest: 0
`

/** Two models over one source: a view in staging, a table in main. */
export const TINY: Files = {
  'dbt_project.yml': PROJECT_YML,
  'models/staging/_sources.yml': `sources:
  - name: platform
    tables:
      - name: users
`,
  'models/staging/stg_user.sql': `select org_id, user_id, sessions
from {{ source('platform', 'users') }}
where sessions >= {{ var('smallest') }}
`,
  'models/staging/stg_user.yml': `models:
  - name: stg_user
    description: One row per user.
    columns:
      - name: org_id
        description: The organisation.
      - name: user_id
        description: The user's id.
      - name: sessions
        description: Sessions.
`,
  'models/marts/fct_user.sql': `select user_id, cast(sum(sessions) as bigint) as sessions
from {{ ref('stg_user') }}
group by 1
order by 1
`,
  'models/marts/fct_user.yml': `models:
  - name: fct_user
    description: One row per user. It's a fact.
    columns:
      - name: user_id
        description: The user's id.
        data_tests:
          - unique
          - not_null
      - name: sessions
        description: Sessions of the user.
        config:
          meta:
            additivity: sum
`,
}

/** Writes the files into a new folder and returns it. */
export async function writeFiles(files: Files): Promise<string> {
  const folder = await folderOfFile()
  for (const [file, content] of Object.entries(files)) {
    const path = join(folder, file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }
  return folder
}

/** Options of a build that nothing is known or asked of. */
export const DEFAULTS = {
  retry: false,
  fullRefresh: false,
  sourceStatements: () => '',
  movableFolder: null,
  sourceContent: () => null,
  asOf: null,
  keep: 0,
} satisfies Partial<BuildOptions>

/** A data folder with a lake of three users, in which projects are built. */
export class Bench {
  readonly data: string
  readonly events: RunEvent[] = []
  #clock = Date.UTC(2026, 0, 31, 2)

  private constructor(data: string) {
    this.data = data
  }

  static async open(): Promise<Bench> {
    const bench = new Bench(await folderOfFile())
    await bench.land("('a', 'u1', 3), ('a', 'u2', 0), ('a', 'u3', 5)")
    return bench
  }

  /** The same data folder at another path; the old one is gone. */
  async moved(name = 'moved'): Promise<Bench> {
    const to = join(await folderOfFile(), name)
    await rename(this.data, to)
    return new Bench(to)
  }

  get target(): string {
    return join(this.data, 'warehouse.duckdb')
  }

  /** Writes the lake's only file: rows of org_id, user_id, sessions. */
  async land(values: string): Promise<void> {
    const db = await Database.open(':memory:')
    await db.run(`copy (
      select cast(org_id as varchar) as org_id, cast(user_id as varchar) as user_id,
        cast(sessions as bigint) as sessions
      from (values ${values}) as users (org_id, user_id, sessions)
    ) to ${literal(join(this.data, 'users.parquet'))} (format parquet)`)
    db.close()
  }

  async build(files: Files, options: Partial<BuildOptions> = {}): Promise<BuildResult> {
    return buildAndPublish(await this.#options(files, options))
  }

  /** What a build would do with each model. */
  async plan(files: Files, options: Partial<BuildOptions> = {}): Promise<readonly PlannedModel[]> {
    return planOfBuild(await this.#options(files, options))
  }

  async #options(files: Files, options: Partial<BuildOptions> = {}): Promise<BuildOptions> {
    return {
      ...DEFAULTS,
      project: await loadProject(await writeFiles(files)),
      target: this.target,
      sourceSql: (_, table) => `read_parquet(${literal(join(this.data, `${table}.parquet`))})`,
      runId: 'run-1',
      now: () => (this.#clock += 5),
      emit: (event) => this.events.push(event),
      tempDirectory: join(this.data, 'state', 'spill'),
      ...options,
    }
  }

  /** Changes the published file as a client that opens it for writing does. */
  async tamper(sql: string): Promise<void> {
    await makeWritable(this.target)
    const db = await Database.open(this.target)
    await db.run(`${sql}; checkpoint`)
    db.close()
  }

  /** Changes the published file, and records the change as published. */
  async write(sql: string): Promise<void> {
    await this.tamper(sql)
    const { size: bytes } = await stat(this.target)
    const sha256 = await sha256OfFile(this.target)
    const records = await readRecords(this.target)
    await writeRecords(
      this.target,
      records.map((record) => ({ ...record, sha256, bytes, content: sha256 })),
    )
  }

  /** The warnings so far. */
  get warnings(): string[] {
    return this.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
  }

  /** Rows of the published file. */
  async rows(sql: string): Promise<Row[]> {
    const db = await Database.open(this.target, { readOnly: true })
    try {
      return await db.rows(sql)
    } finally {
      db.close()
    }
  }
}

/** A project of only these models, whose base a test writes: nothing says when it was fetched. */
export function modelsAlone(project: Project, models: Project['models']): Project {
  const sources = project.sources.map((source) => ({
    ...source,
    tables: source.tables.map((table) => ({ ...table, freshness: null })),
  }))
  return { ...project, models, sources, tests: [], snapshots: [], unitTests: [] }
}
