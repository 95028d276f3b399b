import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { putBack, readRecords } from '../../src/lake/published.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { makeWritable } from '../../src/lib/files.ts'
import { loadProject } from '../../src/model/project/project.ts'
import { listModels } from '../../src/model/project/compile.ts'
import { saveSnapshot } from '../../src/model/engines/snapshots.ts'
import { writeRecord } from '../../src/model/shared/meta.ts'
import { holdOpen } from '../support/helpers.ts'
import { Bench, writeFiles, type Files } from './fixture.ts'

/** A snapshot of a table of values, and a model that reads it. */
function kept(values: string, config = 'strategy: check, check_cols: [team]'): Files {
  return {
    'dbt_project.yml': 'name: tiny\nmodels: {tiny: {+materialized: table}}\n',
    'models/teams.sql': `select member, team, cast(seen as timestamp) as seen
      from (values ${values}) as teams (member, team, seen)`,
    'models/teams.yml': `models:
  - name: teams
    description: One row per member.
    columns:
      - {name: member, description: Who.}
      - {name: team, description: Where.}
      - {name: seen, description: When.}
`,
    'snapshots/teams_history.yml': `snapshots:
  - name: teams_history
    description: One row per member and time.
    relation: ref('teams')
    config: {schema: snapshots, unique_key: member, ${config}}
    columns:
      - {name: member, description: Who.}
      - {name: team, description: Where.}
      - {name: seen, description: When.}
      - {name: dbt_scd_id, description: Identifies the row.}
      - {name: dbt_updated_at, description: When.}
      - {name: dbt_valid_from, description: From when.}
      - {name: dbt_valid_to, description: Until when.}
`,
    'models/fct_moves.sql': "select count(*) as moves from {{ ref('teams_history') }}",
    'models/fct_moves.yml': `models:
  - name: fct_moves
    description: One row.
    columns:
      - {name: moves, description: Rows.}
`,
  }
}

const FIRST = "('a', 'red', '2026-01-01'), (null, 'blue', '2026-01-01')"
const SECOND = "('a', 'green', '2026-01-02'), ('c', 'blue', '2026-01-02')"

/** Members, their teams, and whether the row is current. */
const history = `select member, team, dbt_valid_to is null as is_so
  from snapshots.teams_history order by all`

/** Rows that do not end when the next row of their member begins; none is expected. */
const tears = `select * from (
    select *, lead(dbt_valid_from) over (partition by member order by dbt_valid_from) as next
    from snapshots.teams_history
  ) where next is not null and dbt_valid_to <> next`

describe('a snapshot', () => {
  it('keeps earlier rows with the strategy check', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    await bench.build(kept(FIRST))
    await bench.build(kept(SECOND))
    expect(await bench.rows(history)).toEqual([
      { member: 'a', team: 'green', is_so: true },
      { member: 'a', team: 'red', is_so: false },
      { member: 'c', team: 'blue', is_so: true },
      { member: null, team: 'blue', is_so: true },
    ])
    expect(await bench.rows(tears)).toEqual([])
    expect(await bench.rows('from fct_moves')).toEqual([{ moves: '4' }])
  })

  it('ends removed rows with hard_deletes: invalidate', async () => {
    const bench = await Bench.open()
    const rule = 'strategy: check, check_cols: [team, seen], hard_deletes: invalidate'
    await bench.build(kept(FIRST, rule))
    await bench.build(kept(SECOND, rule))
    expect(await bench.rows(history)).toContainEqual({
      member: null,
      team: 'blue',
      is_so: false,
    })
    await bench.build(kept(FIRST, rule))
    expect(await bench.rows(`from (${history}) where is_so`)).toEqual([
      { member: 'a', team: 'red', is_so: true },
      { member: null, team: 'blue', is_so: true },
    ])
  })

  it('has row ids as in dbt, and comments', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    expect(
      await bench.rows(`select dbt_scd_id = md5('a|' || dbt_updated_at) as is_same
        from snapshots.teams_history where member = 'a'`),
    ).toEqual([{ is_same: true }])
    expect(await bench.rows('select * from meta.columns where description is null')).toEqual([])
  })

  it('survives a full refresh, and a build of other models', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    await bench.build(kept(SECOND), { select: 'teams' })
    await bench.build(kept(SECOND), { fullRefresh: true })
    await bench.build(kept(SECOND), { select: '+fct_moves' })
    expect(await bench.rows(history)).toHaveLength(4)
  })

  it('has its own columns alone where a folder of the path is named like a partition', async () => {
    const bench = await (await Bench.open()).moved('team=x')
    await bench.build(kept(FIRST))
    await bench.build(kept(SECOND))
    expect(await bench.rows(history)).toHaveLength(4)
  })

  it('accepts new columns', async () => {
    const bench = await Bench.open()
    const files = kept(FIRST)
    await bench.build(files)
    const wide = (text: string | undefined, added: string) => `${text ?? ''}${added}`
    await bench.build({
      ...files,
      'models/teams.sql': (files['models/teams.sql'] ?? '').replace(
        'member,',
        "member, 'x' as room,",
      ),
      'models/teams.yml': wide(
        files['models/teams.yml'],
        '      - {name: room, description: R.}\n',
      ),
      'snapshots/teams_history.yml': wide(
        files['snapshots/teams_history.yml']?.replace('[team]', '[team, room]'),
        '      - {name: room, description: R.}\n',
      ),
    })
    expect(
      await bench.rows(
        `select room, count(*) as n from snapshots.teams_history group by 1 order by 1`,
      ),
    ).toEqual([
      { room: 'x', n: '2' },
      { room: null, n: '2' },
    ])
  })

  it('keeps its history outside the published file, which may be damaged or missing', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    await bench.build(kept(FIRST)) // no change, so no new version
    expect(await versionsOf(bench)).toHaveLength(1)
    await makeWritable(bench.target)
    await writeFile(bench.target, 'not a database')
    await bench.build(kept(SECOND))
    expect(await bench.rows(history)).toHaveLength(4)
    expect(await versionsOf(bench)).toHaveLength(2)
    await rm(bench.target)
    await bench.build(kept(SECOND))
    expect(await bench.rows(history)).toHaveLength(4)
    expect(await versionsOf(bench)).toHaveLength(2)
  })

  it('is continued while another process holds the published file open for writing', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    await makeWritable(bench.target)
    const release = await holdOpen(bench.target)
    await bench.build(kept(SECOND))
    expect(bench.warnings).toEqual([])
    await release()
    expect(await bench.rows(history)).toHaveLength(4)
  })

  it('of an earlier version is taken over from the published file, even while that is open for writing', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    await asOfEarlierVersion(bench)
    await makeWritable(bench.target)
    const release = await holdOpen(bench.target)
    await bench.build(kept(SECOND))
    await release()
    expect(await bench.rows(history)).toHaveLength(4)
    expect(await versionsOf(bench)).toHaveLength(2)
  })

  it('of an earlier version stops the build when the published file cannot be read', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    await asOfEarlierVersion(bench)
    const whole = await readFile(bench.target)
    await makeWritable(bench.target)
    await truncate(bench.target, 5000)
    await expect(bench.build(kept(SECOND))).rejects.toMatchObject({
      message: expect.stringContaining('the only history of teams_history') as string,
      hint: expect.stringContaining('move the warehouse away') as string,
    })
    expect(await readdir(bench.data)).toEqual(['state', 'users.parquet', 'warehouse.duckdb'])
    await writeFile(bench.target, whole)
    await bench.build(kept(SECOND))
    expect(await bench.rows(history)).toHaveLength(4)
  })

  it('whose last version is damaged is continued from the published file', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    await bench.build(kept(SECOND))
    const [, last = ''] = await versionsOf(bench)
    await truncate(join(bench.data, 'snapshots', 'teams_history', last), 100)
    await bench.build(kept(SECOND))
    expect(await bench.rows(history)).toHaveLength(4)
    expect(bench.warnings).toEqual([expect.stringContaining(`snapshot teams_history: ${last}`)])
    const quarantine = join(bench.data, 'quarantine', 'snapshots', 'teams_history')
    expect(await readdir(quarantine)).toEqual([last])
  })

  it('whose last version and published file are damaged is continued from the previous version', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    await bench.build(kept(SECOND))
    const [, last = ''] = await versionsOf(bench)
    await truncate(join(bench.data, 'snapshots', 'teams_history', last), 0)
    await bench.tamper('drop table fct_moves')
    await bench.build(kept(SECOND))
    expect(await bench.rows(history)).toHaveLength(4)
    expect(await versionsOf(bench)).toHaveLength(2)
  })

  it('gets no version if the written file does not contain the rows of the snapshot', async () => {
    const bench = await Bench.open()
    await using db = await Database.open(':memory:')
    await db.run('create schema snapshots')
    // other rows each time that it is read, as if the disk had changed them
    await db.run('create view snapshots.teams_history as select random() as member')
    const models = listModels(await loadProject(await writeFiles(kept(FIRST))))
    const node = models.find(({ name }) => name === 'teams_history') ?? expect.fail()
    const place = { target: bench.target, asOf: null, now: () => 0, warn: () => undefined }
    await expect(saveSnapshot(db, node, place)).rejects.toThrow(
      /^snapshot teams_history: .* does not contain the rows that were written to it$/,
    )
    expect(await versionsOf(bench)).toEqual([])
  })

  it('gets no version from a failed build, or from a build as of an earlier time', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    const files = kept(SECOND)
    const failing = (files['models/fct_moves.yml'] ?? '').replace(
      'Rows.',
      'Rows., data_tests: [{accepted_values: {arguments: {values: [0]}}}]',
    )
    await expect(bench.build({ ...files, 'models/fct_moves.yml': failing })).rejects.toMatchObject({
      exitCode: 6,
    })
    await bench.build(files, { asOf: Date.UTC(2027, 0, 1) })
    expect(await versionsOf(bench)).toHaveLength(1)
  })
})

describe('a snapshot after a build of an earlier time', () => {
  it('whose last version is damaged is continued from the previous version', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    const [begun] = await bench.rows(beginning)
    await bench.build(kept(SECOND))
    await buildPast(bench, kept(FIRST))
    expect(await bench.rows(beginning)).not.toEqual([begun]) // it has a history of its own
    await truncate(await lastVersion(bench), 100)
    await bench.build(kept(SECOND))
    expect(await bench.rows(beginning)).toEqual([begun])
    expect(await bench.rows(history)).toHaveLength(4)
  })

  it.each([
    ['the file built with --as-of', () => Promise.resolve()],
    ['that file, changed', (bench: Bench) => bench.tamper('drop table fct_moves')],
  ])('is not begun again from %s if its only version is damaged', async (_, change) => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    const [begun] = await bench.rows(beginning)
    await buildPast(bench, kept(FIRST))
    await change(bench)
    await truncate(await lastVersion(bench), 100)
    const failing = () =>
      expect(bench.build(kept(SECOND), { runId: 'run-3' })).rejects.toMatchObject({
        message: expect.stringContaining('teams_history has no intact version') as string,
        hint: expect.stringContaining('agent-warehouse rollback') as string,
      })
    await failing()
    await failing()
    const [record] = await readRecords(bench.target)
    if (record !== undefined) await putBack(bench.target, record)
    await bench.build(kept(SECOND), { runId: 'run-4' })
    expect(await bench.rows(beginning)).toEqual([begun])
    expect(await bench.rows(history)).toHaveLength(4)
  })

  it('is not read from a damaged version of that time', async () => {
    const bench = await Bench.open()
    await bench.build(kept(FIRST))
    const path = await lastVersion(bench)
    await bench.build(kept(SECOND))
    await truncate(path, 100)
    const between = Date.UTC(2026, 0, 31, 2, 0, 0, 100)
    const files = await readdir(bench.data)
    await expect(bench.build(kept(FIRST), { asOf: between })).rejects.toMatchObject({
      message: `a build with --as-of needs a damaged file: snapshot teams_history: ${basename(path)}: its SHA-256 is not the recorded one`,
      hint: expect.stringContaining('from a backup') as string,
    })
    expect(await readdir(bench.data)).toEqual(files)
  })

  it('begins with the first build of the latest data', async () => {
    const bench = await Bench.open()
    await buildPast(bench, kept(FIRST))
    const [begun] = await bench.rows(beginning)
    await bench.build(kept(SECOND))
    expect(await bench.rows(beginning)).not.toEqual([begun])
    expect(await bench.rows(history)).toHaveLength(2)
  })
})

/** When the history begins. */
const beginning = 'select cast(min(dbt_valid_from) as varchar) as at from snapshots.teams_history'

/** Publishes the warehouse of a time before every version of the snapshot, and keeps the other. */
async function buildPast(bench: Bench, files: Files): Promise<void> {
  const asOf = Date.UTC(2026, 0, 1)
  const provenance = { runId: 'run-2', builtAt: Date.UTC(2026, 0, 31), asOf }
  const none = "(select true as is_analytics, 'a' as org_id limit 0)"
  const meta = (db: Database) => writeRecord(db, none, [], provenance)
  await bench.build(files, { asOf, meta, runId: 'run-2', keep: 1 })
}

async function lastVersion(bench: Bench): Promise<string> {
  return join(bench.data, 'snapshots', 'teams_history', (await versionsOf(bench)).at(-1) ?? '')
}

async function versionsOf(bench: Bench): Promise<string[]> {
  return (await readdir(join(bench.data, 'snapshots', 'teams_history'))).sort()
}

/** An earlier version of the tool recorded nothing, and had the history only in the published file. */
async function asOfEarlierVersion(bench: Bench): Promise<void> {
  await rm(join(bench.data, 'snapshots'), { recursive: true })
  await rm(join(bench.data, 'state'), { recursive: true })
}

describe('a snapshot is refused with file and line because of', () => {
  const cases: [string, string, string][] = [
    [
      'the strategy check without check_cols',
      'strategy: check',
      'teams_history.yml:5: snapshots.0.config.check_cols: ',
    ],
    [
      'another strategy',
      'strategy: timestamp, updated_at: seen',
      "the built-in runner supports the strategy 'check'",
    ],
    [
      'an unknown column',
      'strategy: check, check_cols: [teem]',
      "teams_history.yml:2: unknown column 'teem'",
    ],
    [
      'an unknown value of hard_deletes',
      'strategy: check, check_cols: [team], hard_deletes: new_record',
      "supports 'ignore'",
    ],
  ]
  it.each(cases)('%s', async (_, config, message) => {
    const folder = await writeFiles(kept(FIRST, config))
    await expect(loadProject(folder)).rejects.toThrow(message)
  })

  it('an unknown model', async () => {
    const files = kept(FIRST)
    const yml = (files['snapshots/teams_history.yml'] ?? '').replace("ref('teams')", "ref('teems')")
    const folder = await writeFiles({ ...files, 'snapshots/teams_history.yml': yml })
    const project = await loadProject(folder)
    expect(() => listModels(project)).toThrow("teams_history.yml:2: unknown model 'teems'")
  })
})
