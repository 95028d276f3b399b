import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/lib/errors.ts'
import { loadProject } from '../../src/model/project/project.ts'
import type { BuildResult } from '../../src/model/build/build.ts'
import { sha256OfFile } from '../../src/lib/files.ts'
import { Bench, writeFiles, type Files } from './fixture.ts'
import { folderOfFile } from '../support/folders.ts'

const HEADER = 'org_id,member,seats,valid_from\n'
const PRICED = 'member,seats,valid_from,price\n'

/** A seed with a file of its own that is empty, and a table that reads it. */
const SEEDED: Files = {
  'dbt_project.yml': `name: tiny
models: {tiny: {+materialized: table}}
seeds: {tiny: {+schema: seeds}}
`,
  'seeds/teams.csv': HEADER,
  'seeds/teams.yml': `seeds:
  - name: teams
    description: One row per member and day.
    config:
      column_types: {org_id: varchar, member: varchar, seats: bigint, valid_from: date}
      tags: [people]
    data_tests:
      - unique_key: {arguments: {columns: [org_id, member, valid_from]}}
    columns:
      - name: org_id
        description: The organisation.
      - name: member
        description: Who it is.
        data_tests: [not_null]
      - name: seats
        description: Seats.
        config: {meta: {minimum: 0}}
      - name: valid_from
        description: Since when.
`,
  'models/fct_seats.sql': "select sum(seats) as seats from {{ ref('teams') }}",
  'models/fct_seats.yml': `models:
  - name: fct_seats
    description: One row.
    columns:
      - name: seats
        description: Seats.
`,
}

type Contents = string | Uint8Array

interface Seeded {
  readonly bench: Bench
  readonly warnings: string[]
  readonly build: (own: Readonly<Record<string, Contents>>, files?: Files) => Promise<BuildResult>
}

async function seeded(): Promise<Seeded> {
  const bench = await Bench.open()
  const warnings: string[] = []
  const build: Seeded['build'] = async (own, files = SEEDED) => {
    // a path may be like a partition of a column, and contain a word of the statement that reads it
    const seedFolder = join(await folderOfFile(), 'member=x', 'strict_mode')
    await mkdir(seedFolder, { recursive: true })
    for (const [name, text] of Object.entries(own)) await writeFile(join(seedFolder, name), text)
    const warn = (message: string) => warnings.push(message.replace(seedFolder, ''))
    const project = await loadProject(await writeFiles(files), { seedFolder, warn })
    try {
      return await bench.build(files, { project })
    } catch (error) {
      if (error instanceof UsageError) throw relativeTo(seedFolder, error)
      throw error
    }
  }
  return { bench, warnings, build }
}

function relativeTo(folder: string, error: UsageError): UsageError {
  const hint = error.hint === undefined ? {} : { hint: error.hint }
  return new UsageError(error.message.replaceAll(`${folder}/`, ''), hint)
}

const rows = 'select * from seeds.teams order by all'

describe('a seed', () => {
  it('is an empty table when its file has only a header', async () => {
    const { bench, build } = await seeded()
    const { models } = await build({})
    expect(models.map(({ name, rows: count }) => [name, count])).toEqual([
      ['teams', 0],
      ['fct_seats', 1],
    ])
    expect(await bench.rows('from fct_seats')).toEqual([{ seats: null }])
  })

  it('is read from the file of that name in the user’s folder, if there is one', async () => {
    const { bench, build } = await seeded()
    await build({ 'teams.csv': `${HEADER}a,"x, ""y""\nz",5,2026-01-14\na,b,,\n` })
    expect(await bench.rows(rows)).toEqual([
      { org_id: 'a', member: 'b', seats: null, valid_from: null },
      { org_id: 'a', member: 'x, "y"\nz', seats: '5', valid_from: '2026-01-14' },
    ])
    await build({})
    expect(await bench.rows(rows)).toEqual([])
  })

  const ways: [string, Contents][] = [
    ['in another order of columns', 'valid_from,member,seats,org_id\n2026-01-14,b,5,\n'],
    ['without a column that may be NULL', 'member,seats,valid_from\nb,5,2026-01-14\n'],
    ['with a byte order mark', `\u{FEFF}${HEADER},b,5,2026-01-14\n`],
    ['with Windows line ends', `${HEADER},b,5,2026-01-14\n`.replaceAll('\n', '\r\n')],
    ['with line ends of two systems', `${HEADER}\n,b,5,2026-01-14\r\n`],
    ['separated by semicolons', `${HEADER},b,5,2026-01-14\n`.replaceAll(',', ';')],
    ['separated by tabs', `${HEADER},b,5,2026-01-14\n`.replaceAll(',', '\t')],
    ['with all fields quoted', '"org_id","member","seats","valid_from"\n"","b","5","2026-01-14"\n'],
    ['with empty lines', `${HEADER}\n,b,5,2026-01-14\n\n\n`],
    ['without a line end', `${HEADER},b,5.0,2026-01-14`],
  ]
  it.each(ways)('may be written %s', async (_, text) => {
    const { bench, build } = await seeded()
    await build({ 'teams.csv': text })
    expect(await bench.rows(rows)).toEqual([
      { org_id: null, member: 'b', seats: '5', valid_from: '2026-01-14' },
    ])
  })

  it('has comments, checks and catalogue rows as a model has', async () => {
    const { bench, build } = await seeded()
    const { checks } = await build({})
    expect(checks.map(({ check }) => check)).toEqual([
      'unique_key_teams_org_id_member_valid_from',
      'not_null_teams_member',
    ])
    const catalogue = `select description from meta.columns where table_name = 'teams'`
    expect(await bench.rows(catalogue)).toHaveLength(4)
    expect(
      await bench.rows(`select comment from duckdb_tables() where table_name = 'teams'`),
    ).toEqual([{ comment: 'One row per member and day.' }])
    expect(await bench.rows(`select materialized from meta.models where model = 'teams'`)).toEqual([
      { materialized: 'seed' },
    ])
  })

  it.each(['teams+', '+fct_seats', 'tag:people+', 'path:seeds+'])(
    'is selected by %s',
    async (select) => {
      const { bench, build } = await seeded()
      await build({})
      const { models } = await bench.build(SEEDED, { select })
      expect(models.map(({ name }) => name)).toEqual(['teams', 'fct_seats'])
    },
  )
})

it('an incremental model is built from scratch when the file or the yml of its seed changes', async () => {
  const files = {
    ...SEEDED,
    'models/fct_seats.sql': `{{ config(materialized='incremental', unique_key='valid_from') }}
      select valid_from, seats from {{ ref('teams') }}
      {% if is_incremental() %} where false {% endif %}`,
    'models/fct_seats.yml': `${SEEDED['models/fct_seats.yml'] ?? ''}      - {name: valid_from, description: Day.}\n`,
  }
  const { bench, build } = await seeded()
  const one = `${HEADER},b,5,2026-01-14\n`
  await build({ 'teams.csv': one }, files)
  await build({ 'teams.csv': `${one},c,6,2026-01-15\n` }, files)
  expect(await bench.rows('select sum(seats) as n from fct_seats')).toEqual([{ n: '11' }])
  const yml = (SEEDED['seeds/teams.yml'] ?? '').replace('seats: bigint', 'seats: double')
  await build({ 'teams.csv': one }, { ...files, 'seeds/teams.yml': yml })
  expect(await bench.rows('select seats from fct_seats')).toEqual([{ seats: 5 }])
})

it.each([
  ['a folder', (path: string) => mkdir(path)],
  ['a link to nothing', (path: string) => symlink('/nowhere', path)],
])('%s in place of the user’s file is refused with its path', async (_, make) => {
  const folder = await writeFiles(SEEDED)
  const seedFolder = join(folder, 'own')
  await mkdir(seedFolder)
  await make(join(seedFolder, 'teams.csv'))
  await expect(loadProject(folder, { seedFolder })).rejects.toMatchObject({
    exitCode: 2,
    message: `${join(seedFolder, 'teams.csv')}: this is not a file`,
    hint: 'Replace it by a CSV file, or remove it.',
  })
})

it('a CSV file of no seed causes a warning', async () => {
  const { warnings, build } = await seeded()
  await build({ 'team.csv': HEADER, 'notes.txt': '' })
  expect(warnings).toEqual([
    "/team.csv is not used, because there is no seed 'team'. Did you mean 'teams'?",
  ])
})

describe('a seed file is refused with its line, and the warehouse stays, because of', () => {
  const good = ',a,1,2026-01-14\n'
  const priced = {
    ...SEEDED,
    'seeds/teams.yml': `${(SEEDED['seeds/teams.yml'] ?? '').replace(': date}', ': date, price: double}')}      - name: price
        description: Price.
        config: {meta: {minimum: 0.5}}
`,
  }
  const latin = Buffer.from(`${HEADER}${good},Jürgen,1,2026-01-14\n`, 'latin1')
  const cases: [string, Contents, string][] = [
    [
      'an unknown column',
      'member,seat,valid_from\n',
      "teams.csv:1: unknown column 'seat' | Did you mean 'seats'?",
    ],
    [
      'a missing column',
      'org_id,seats,valid_from\n',
      "teams.csv:1: column 'member' is missing | member: Who it is.",
    ],
    [
      'a column twice',
      `member,seats,valid_from,member\n`,
      "teams.csv:1: column 'member' appears twice",
    ],
    ['no header', '', 'teams.csv:1: the first line must name the columns'],
    [
      'an invalid date',
      `${HEADER}${good},b,1,14.01.2026\n`,
      "teams.csv:3: column 'valid_from': '14.01.2026' is not a date | Write YYYY-MM-DD, such as 2026-01-31.",
    ],
    [
      'a date that does not exist',
      `${HEADER}${good},b,1,2026-02-30\n`,
      "teams.csv:3: column 'valid_from': '2026-02-30' is not a date",
    ],
    [
      'a date that other text follows',
      `${HEADER}${good},b,1, 2026-01-14 \n,c,1,2026-01-14?\n`,
      "teams.csv:4: column 'valid_from': '2026-01-14?' is not a date",
    ],
    [
      'an invalid number after a text of two lines and an empty line',
      `${HEADER},"a\nb",1,2026-01-14\n\n,b,many,2026-01-14\n`,
      "teams.csv:5: column 'seats': 'many' is not a whole number | Write only digits, such as 1200.",
    ],
    [
      'a number that would be rounded',
      `${HEADER},"a\nb",1,2026-01-14\n\n,b,12.5,2026-01-14\n`,
      "teams.csv:5: column 'seats': '12.5' is not a whole number",
    ],
    [
      'a number below the least one',
      `${HEADER},"a\nb",0,2026-01-14\n\n,b,-5,2026-01-14\n`,
      "teams.csv:5: column 'seats': '-5' is below 0 | Write a number of 0 or more.",
    ],
    [
      'a decimal number below the least one',
      `${PRICED}a,1,2026-01-14,0.5\nb,1,2026-01-14,\nc,1,2026-01-14, 4e-1\n`,
      "teams.csv:4: column 'price': ' 4e-1' is below 0.5 | Write a number of 0.5 or more.",
    ],
    [
      'a number that is infinite',
      `${PRICED}a,1,2026-01-14,1e999\n`,
      "teams.csv:2: column 'price': '1e999' is not a number | Write it with a decimal point",
    ],
    [
      'a text that a double may hold',
      `${PRICED}a,1,2026-01-14,1\nb,1,2026-01-14,nan\n`,
      "teams.csv:3: column 'price': 'nan' is not a number",
    ],
    [
      'a date that never comes',
      `${HEADER}${good},b,1,infinity\n`,
      "teams.csv:3: column 'valid_from': 'infinity' is not a date",
    ],
    [
      'a line with a field too few',
      `${HEADER}${good},b,1\n`,
      "teams.csv:3: the line has 3 fields, the first line has 4 | A field with ',' must be in double quotes.",
    ],
    [
      'a line with a field too many',
      `${HEADER}${good},Doe, John,1,2026-01-14\n`,
      'teams.csv:3: the line has 5 fields, the first line has 4',
    ],
    [
      'a quote that is not closed',
      `${HEADER}${good},"b,1,2026-01-14\n`,
      'teams.csv:3: a double quote is not closed, or text follows a closing double quote | Quote the whole field',
    ],
    [
      'an empty value in a column that needs one',
      `${HEADER}${good},"b\nc",1,2026-01-14\n,,2,2026-01-14\n`,
      "teams.csv:5: column 'member' is empty | Every line needs a value in this column.",
    ],
    [
      'a key twice',
      `${HEADER}${good},"b\nc",1,2026-01-14\n\n,a,2,2026-1-14\n`,
      'teams.csv:6: the key (org_id, member, valid_from) = (NULL, a, 2026-01-14) is already used on line 2',
    ],
    [
      'a line beyond the limit of the reader',
      `${HEADER}${good},${'b'.repeat(2_100_000)},1,2026-01-14\n`,
      'teams.csv:3: the line is longer than 2,000,000 bytes | Shorten it, or close a double quote',
    ],
    [
      'a text that is not UTF-8',
      latin,
      'teams.csv:3: the file is not UTF-8 | Save it as UTF-8, which spreadsheet programs call "CSV UTF-8".',
    ],
    [
      'a text in UTF-16',
      Buffer.from(`\u{FEFF}${HEADER}${good}`, 'utf16le'),
      'teams.csv:1: the file is not UTF-8',
    ],
  ]
  it.each(cases)('%s', async (_, text, message) => {
    const { bench, build } = await seeded()
    await build({}, priced)
    const before = await sha256OfFile(bench.target)
    const own = { 'teams.csv': text }
    const error: unknown = await build(own, priced).catch((thrown: unknown) => thrown)
    if (!(error instanceof UsageError)) throw error
    expect(error.exitCode).toBe(2)
    const hint = error.hint?.replace(/^Nothing was published; .*\n?/, '') ?? ''
    const shown = [error.message, ...(hint === '' ? [] : [hint])].join(' | ')
    expect(shown).toContain(message)
    expect(shown).not.toContain('\n')
    expect(await sha256OfFile(bench.target)).toBe(before)
  })
})

describe('a seed’s yml is refused with file and line because of', () => {
  const yml = SEEDED['seeds/teams.yml'] ?? ''
  const cases: [string, Files, string][] = [
    [
      'an unknown type',
      { 'seeds/teams.yml': yml.replace('seats: bigint', 'seats: number') },
      "seeds/teams.yml:5: seeds.0.config.column_types.seats: the type of a seed's column must be varchar",
    ],
    [
      'a type of an unknown column',
      { 'seeds/teams.yml': yml.replace('seats: bigint', 'seats: bigint, sits: bigint') },
      "seeds/teams.yml:5: unknown column 'sits'",
    ],
    [
      'a column without a type',
      { 'seeds/teams.yml': yml.replace('seats: bigint, ', '') },
      "seeds/teams.yml:15: column 'seats' has no type",
    ],
    [
      'a setting of models',
      { 'seeds/teams.yml': yml.replace('tags:', 'materialized: table\n      tags:') },
      "seeds/teams.yml:6: seeds.0.config: unknown key 'materialized'",
    ],
    [
      'a yml without its file',
      { 'seeds/x.yml': yml.replace('teams', 'teems') },
      "seeds/x.yml:2: unknown seed 'teems'",
    ],
    ['a file without its yml', { 'seeds/x.csv': HEADER }, "seeds/x.csv: seed 'x' has no yml"],
    [
      'a seed described twice',
      { 'seeds/x.yml': yml },
      "seeds/x.yml:2: seed 'teams' is described twice",
    ],
    [
      'a model of the same name',
      {
        'models/teams.sql': 'select 1 as one',
        'models/teams.yml': (SEEDED['models/fct_seats.yml'] ?? '').replace('fct_seats', 'teams'),
      },
      "seeds/teams.csv: 'teams' is already defined in models/teams.sql",
    ],
  ]
  it.each(cases)('%s', async (_, changes, message) => {
    const folder = await writeFiles({ ...SEEDED, ...changes })
    await expect(loadProject(folder)).rejects.toThrow(message)
  })
})
