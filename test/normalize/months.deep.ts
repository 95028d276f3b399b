import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { BASE_ENTITIES } from '../../src/normalize/base-entities.ts'
import { BaseEngine } from '../../src/normalize/batch.ts'
import { normalize, openBase } from '../../src/normalize/normalize.ts'
import { type NormalizeOptions, LIMITS } from '../../src/normalize/base-plan.ts'
import { readBaseState, writeBaseState, type BaseFiles } from '../../src/normalize/state.ts'
import { Database, literal, type Row } from '../../src/lib/duckdb.ts'
import { crc32OfFile, sha256OfFile } from '../../src/lib/files.ts'
import { baseFile, baseGlob, rawFolder, versionName } from '../../src/lake/layout.ts'
import { intervalKey, type Interval, type Ledger } from '../../src/lake/ledger.ts'
import { temporaryFolder } from '../support/helpers.ts'

const ORG = 'org-1'

/** The rows of a resource on a day; undefined where nothing has landed. */
type Items = readonly object[] | undefined
type Served = ReadonlyMap<string, Items>

/** Lands a version of each day (`resource/date`) and returns the ledger that names them. */
async function land(data: string, served: Served): Promise<Ledger> {
  const ledger = new Map<string, Interval>()
  for (const [key, items] of served) {
    const [resource = '', date = ''] = key.split('/')
    if (items === undefined) continue
    const day = parseDay(date, 'the day')
    const path = rawFile(data, resource, date, items)
    await writeRaw(path, items)
    ledger.set(intervalKey(resource, day), intervalOf(resource, date, basename(path)))
  }
  return ledger
}

function rawFile(data: string, resource: string, date: string, items: Items): string {
  const digest = createHash('sha256').update(JSON.stringify(items)).digest('hex')
  const folder = rawFolder(data, ORG, resource, parseDay(date, 'the day'))
  return join(folder, versionName(0, digest))
}

function intervalOf(resource: string, date: string, file: string): Interval {
  return {
    resource,
    day: parseDay(date, 'the day'),
    status: 'landed',
    fetchedAt: 0,
    rowCount: null,
    versions: 1,
    attempts: 1,
    requestId: null,
    file,
    sha256: null,
    digest: null,
    error: null,
  }
}

async function writeRaw(path: string, items: readonly object[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const db = await Database.open(':memory:')
  const rows = JSON.stringify(items.map((item) => JSON.stringify(item)))
  await db.run('create table served (rows varchar)')
  await db.rows('insert into served values ($1)', [rows])
  await db.run(`copy (
    select
      item, cast(row_number() over () as bigint) as ordinal, cast(1 as bigint) as page,
      timestamptz '2026-02-01 06:00:00+00' as fetched_at, '/path' as request,
      'req' as request_id, 'run' as run_id
    from (select unnest(from_json(rows, '["VARCHAR"]')) as item from served)
  ) to ${literal(path)} (format parquet)`)
  db.close()
}

async function toBase(
  data: string,
  ledger: Ledger,
  more: Partial<NormalizeOptions> = {},
  base?: BaseFiles,
): Promise<number> {
  const options: NormalizeOptions = {
    dataFolder: data,
    baseIn: data,
    orgId: ORG,
    ledger,
    firstMonth: '2026-01',
    emit: () => undefined,
    findDamaged: () => Promise.resolve([]),
  }
  await using engine = new BaseEngine(options.dataFolder)
  return await normalize([{ options: { ...options, ...more }, base }], engine)
}

/** The entities whose rows differ between the two folders. */
async function differences(one: string, other: string): Promise<string[]> {
  const db = await Database.open(':memory:')
  const found: string[] = []
  for (const { name } of BASE_ENTITIES) {
    const [a, b] = [one, other].map((data) => `from read_parquet(${literal(baseGlob(data, name))})`)
    const rows = await db.rows(`(${a} except all ${b}) union all (${b} except all ${a})`)
    if (rows.length > 0) found.push(name)
  }
  db.close()
  return found
}

async function rowsOf(data: string, entity: string, columns: string): Promise<Row[]> {
  const db = await Database.open(':memory:')
  const files = literal(baseGlob(data, entity))
  const rows = await db.rows(`select ${columns} from read_parquet(${files}) order by all`)
  db.close()
  return rows
}

const item = fc.record({
  user_id: fc.constantFrom('u1', 'u2', '', undefined),
  sessions: fc.option(fc.integer({ min: 0, max: 3 })),
  languages: fc.subarray(['SQL', 'Go']),
  billable_tokens: fc.integer({ min: 0, max: 3 }),
  by_user: fc.array(
    fc.record({
      user_id: fc.constantFrom('u1', 'u2'),
      by_model: fc.array(fc.record({ model_id: fc.constantFrom('m1', 'm2') }), { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
})
const place = fc
  .tuple(fc.constantFrom('users', 'tokens'), fc.constantFrom('01-30', '01-31', '02-01', '02-02'))
  .map(([resource, date]) => `${resource}/2026-${date}`)
/** The months whose base is written first. */
const complete = fc.option(fc.subarray(['2026-01', '2026-02']), { nil: undefined })
const night = fc.array(
  fc.tuple(place, fc.option(fc.array(item, { maxLength: 3 }), { nil: undefined, freq: 4 })),
  { minLength: 1, maxLength: 4 },
)

const { rawBytes: mostBytes } = LIMITS
afterEach(() => {
  LIMITS.rawBytes = mostBytes
})

it('base written night by night and in parts equals base written at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(night, complete), { minLength: 2, maxLength: 4 }),
      fc.constantFrom(1, 3000, mostBytes),
      async (nights, rawBytes) => {
        LIMITS.rawBytes = rawBytes
        const nightly = await temporaryFolder()
        let served: Served = new Map()
        for (const [changes, only] of nights) {
          served = new Map([...served, ...changes])
          const base = await openBase({ baseIn: nightly, orgId: ORG, emit: () => undefined })
          const ledger = await land(nightly, served)
          if (only !== undefined) await toBase(nightly, ledger, { onlyMonths: new Set(only) }, base)
          await toBase(nightly, ledger, {}, base)
        }
        const whole = await temporaryFolder()
        LIMITS.rawBytes = mostBytes
        await toBase(whole, await land(whole, served))
        expect(await differences(nightly, whole)).toEqual([])
      },
    ),
    { numRuns: 10 },
  )
})

describe('base that is written before everything has landed', () => {
  const served: Served = new Map([
    ['users/2026-01-14', [{ user_id: 'u1', new_field: 1 }]],
    ['users/2026-02-01', [{ user_id: 'u1', new_field: 1 }]],
    ['computers/2026-02-01', [{ id: 'c1' }]],
  ])
  const written = async (data: string): Promise<string[]> => {
    const entities = ['users', 'computers', 'schema_drift']
    const state = await readBaseState(data, ORG, entities, () => undefined)
    return [...state.keys()].sort()
  }

  it('is that of analytics in complete months', async () => {
    const data = await temporaryFolder()
    const ledger = await land(data, served)
    await toBase(data, ledger, { onlyMonths: new Set(['2026-02']) })
    expect(await written(data)).toEqual(['schema_drift/2026-02', 'users/2026-02'])
    await toBase(data, ledger)
    expect(await written(data)).toEqual(
      ['computers', 'schema_drift', 'users'].flatMap((name) => [
        `${name}/2026-01`,
        `${name}/2026-02`,
      ]),
    )
  })

  it('is not written while a damaged file is in the lake', async () => {
    const data = await temporaryFolder()
    const ledger = await land(data, served)
    const findDamaged = (): Promise<null> => Promise.resolve(null)
    expect(await toBase(data, ledger, { findDamaged })).toBe(0)
    expect(await written(data)).toEqual([])
  })

  it('stays due when the run is stopped', async () => {
    const data = await temporaryFolder()
    const ledger = await land(data, served)
    await toBase(data, ledger, { signal: AbortSignal.abort() })
    expect(await written(data)).toEqual([])
    await toBase(data, ledger)
    expect(await written(data)).toHaveLength(6)
  })
})

/** Records a base file in the state as if it had been written like this. */
async function claimAsWritten(data: string, key: string, file: string): Promise<void> {
  const files = new Map(await readBaseState(data, ORG, ['users'], () => undefined))
  const written = { sha256: await sha256OfFile(file), crc32: await crc32OfFile(file) }
  files.set(key, { fingerprint: 'another', ...written })
  await writeBaseState(data, ORG, files)
}

describe('a month with one changed day', () => {
  const first = [{ user_id: 'u1', sessions: 1 }]
  const second = [{ user_id: 'u1', sessions: 2 }]
  const restated = [{ user_id: 'u1', sessions: 3 }]

  async function twoDays(): Promise<string> {
    const data = await temporaryFolder()
    await toBase(data, await land(data, days(second)))
    return data
  }

  const days = (last: Items): Served =>
    new Map([
      ['users/2026-01-14', first],
      ['users/2026-01-15', last],
    ])

  it('takes the other days from the existing base file', async () => {
    const data = await twoDays()
    const ledger = await land(data, days(restated))
    await rm(rawFile(data, 'users', '2026-01-14', first))
    await toBase(data, ledger)
    expect(await rowsOf(data, 'users', 'sessions')).toEqual([{ sessions: '1' }, { sessions: '3' }])
  })

  it('reads every day again when the existing base file cannot be read', async () => {
    const data = await twoDays()
    await writeFile(baseFile(data, ORG, 'users', '2026-01'), 'not Parquet')
    await toBase(data, await land(data, days(restated)))
    expect(await rowsOf(data, 'users', 'sessions')).toEqual([{ sessions: '1' }, { sessions: '3' }])
  })

  it('reads every day again when other statements made the existing base file', async () => {
    const data = await twoDays()
    const file = baseFile(data, ORG, 'users', '2026-01')
    const db = await Database.open(':memory:')
    await db.run(`create table base as select * replace (9 as sessions) from ${literal(file)};
      copy base to ${literal(file)} (format parquet, kv_metadata {
        made_by: 'another', versions: '{"2026-01-14": "any"}'
      })`)
    db.close()
    await claimAsWritten(data, 'users/2026-01', file)
    await toBase(data, await land(data, days(restated)))
    expect(await rowsOf(data, 'users', 'sessions')).toEqual([{ sessions: '1' }, { sessions: '3' }])
  })
})

describe('a raw file that cannot be read', () => {
  const served: Served = new Map([
    ['users/2026-01-14', [{ user_id: 'u1' }]],
    ['users/2026-02-03', [{ user_id: 'u2' }]],
    ['tokens/2026-02-03', [{ billable_tokens: 1 }]],
  ])

  it('fails with its entity and month, and other base files are written', async () => {
    const data = await temporaryFolder()
    const ledger = await land(data, served)
    const damaged = rawFile(data, 'users', '2026-02-03', [{ user_id: 'u2' }])
    await writeFile(damaged, 'not Parquet')
    await expect(toBase(data, ledger)).rejects.toThrow(/^items of users, month 2026-02: /)
    const state = await readBaseState(data, ORG, ['users', 'tokens_days'], () => undefined)
    const made = [...state].filter(([, { fingerprint }]) => fingerprint !== '')
    expect(made.map(([key]) => key).sort()).toEqual([
      'tokens_days/2026-01',
      'tokens_days/2026-02',
      'users/2026-01',
    ])
    expect(await rowsOf(data, 'users', 'user_id')).toEqual([{ user_id: 'u1' }])
  })
})
