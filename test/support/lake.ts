import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDay } from '../../src/lib/days.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import { BaseEngine } from '../../src/normalize/batch.ts'
import { normalize } from '../../src/normalize/normalize.ts'
import type { NormalizeOptions } from '../../src/normalize/base-plan.ts'
import { Database, literal, type Row } from '../../src/lib/duckdb.ts'
import { baseGlob, NO_ORGANISATION, rawFolder, versionName } from '../../src/lake/layout.ts'
import { versionsIn } from '../../src/lake/raw-days.ts'
import { LedgerFile, type Interval } from '../../src/lake/ledger.ts'
import { temporaryFolder } from './helpers.ts'

export const ORG = 'org/1'

/** Rows of one answer: JSON text, or values to write as JSON. */
export type Items = readonly unknown[]

/** A data folder whose raw versions a test writes by hand. */
export class Lake {
  readonly data: string
  readonly orgId: string
  readonly events: RunEvent[] = []

  private constructor(data: string, orgId: string) {
    this.data = data
    this.orgId = orgId
  }

  /** In a folder of its own, which is removed after the test, unless one is given. */
  static async open(folder?: string, orgId = ORG): Promise<Lake> {
    return new Lake(folder ?? (await temporaryFolder()), orgId)
  }

  /** Lands one version of one day, and records it as the current one. */
  async land(
    resource: string,
    date: string,
    at: string,
    items: Items,
    request = `/${resource}?startDate=${date}`,
  ): Promise<void> {
    await this.record(await this.write(resource, date, at, items, request))
  }

  /** Writes one version of one day, which is the current one once it is recorded. */
  async write(
    resource: string,
    date: string,
    at: string,
    items: Items,
    request = `/${resource}?startDate=${date}`,
  ): Promise<Interval> {
    const day = parseDay(date, 'the day')
    const folder = rawFolder(this.data, this.orgId, resource, day)
    const texts = items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
    const digest = createHash('sha256').update(texts.join('\n')).digest('hex')
    const file = versionName(Date.parse(at), digest)
    await mkdir(folder, { recursive: true })
    await writeRaw(join(folder, file), texts, { at, request })
    return {
      resource,
      day,
      status: items.length === 0 ? 'empty' : 'landed',
      fetchedAt: Date.parse(at),
      rowCount: items.length,
      versions: versionsIn(folder).length,
      attempts: 1,
      requestId: `req ${at}`,
      file,
      sha256: 'not verified here',
      digest,
      error: null,
    }
  }

  async record(...intervals: Interval[]): Promise<void> {
    const ledger = await LedgerFile.open(this.data, this.orgId, () => undefined)
    await ledger.record(intervals)
  }

  /**
   * Raw to base, of the lake unless another folder is given; `only`: of these months. Returns the
   * number of months written of the organisation.
   */
  async normalize(baseIn = this.data, only?: ReadonlySet<string>): Promise<number> {
    await using engine = new BaseEngine(this.data)
    const own = await this.options(baseIn)
    const none = { orgId: NO_ORGANISATION, ledger: new Map(), firstMonth: '2026-01' }
    await normalize([{ options: { ...own, ...none, emit: () => undefined } }], engine)
    const months = only === undefined ? {} : { onlyMonths: only }
    return await normalize([{ options: { ...own, ...months } }], engine)
  }

  /** With which base of the organisation is made. */
  async options(baseIn = this.data): Promise<NormalizeOptions> {
    return {
      dataFolder: this.data,
      baseIn,
      orgId: this.orgId,
      ledger: await LedgerFile.read(this.data, this.orgId),
      emit: (event: RunEvent) => this.events.push(event),
      findDamaged: () => Promise.resolve([]),
    }
  }

  /** Rows of a statement; `{entity}` in it stands for the files of a base entity. */
  async rows(sql: string): Promise<Row[]> {
    const database = await Database.open(':memory:')
    const filled = sql.replaceAll(/\{(\w+)\}/g, (_, entity: string) =>
      literal(baseGlob(this.data, entity)),
    )
    try {
      return await database.rows(filled)
    } finally {
      database.close()
    }
  }
}

/** One for all files that a process writes. */
let writer: Promise<Database> | undefined

async function writeRaw(
  path: string,
  items: readonly string[],
  { at, request }: { readonly at: string; readonly request: string },
): Promise<void> {
  writer ??= Database.open(':memory:')
  const database = await writer
  await database.rows(
    `copy (
      select item, cast(ordinal - 1 as bigint) as ordinal, cast(1 as bigint) as page,
        timestamptz ${literal(at)} as fetched_at, ${literal(request)} as request,
        ${literal(`req ${at}`)} as request_id, 'run' as run_id
      from (
        select unnest(items) as item, generate_subscripts(items, 1) as ordinal
        from (select from_json(cast($items as varchar), '["VARCHAR"]') as items)
      )
    ) to ${literal(path)} (format parquet, kv_metadata {request_id: ${literal(`req ${at}`)}})`,
    { items: JSON.stringify(items) },
  )
}
