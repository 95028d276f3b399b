import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Database, identifier, type Row } from '../../src/lib/duckdb.ts'
import { command } from '../support/command.ts'
import { sendJson, temporaryFolder, testServer } from '../support/helpers.ts'

const MS_PER_DAY = 86_400_000
const TODAY = Math.floor(Date.now() / MS_PER_DAY) * MS_PER_DAY
const dayBefore = (days: number): string =>
  new Date(TODAY - days * MS_PER_DAY).toISOString().slice(0, 10)
const MARKER = 'Zaphod.Q'
const MARKED = `${MARKER}@marker.test`

/** Every field of a row of users is a marker, except its date. */
const row = (date: unknown, fields: object = {}): object => ({
  user_id: MARKED,
  user_email: MARKED,
  date,
  sessions: MARKED,
  languages: MARKED,
  primary_model: MARKED,
  unheard_of: MARKED,
  [MARKED]: MARKED,
  nested: { [MARKED]: { [MARKED]: MARKED } },
  ...fields,
})

/** Wrong responses, each of which once led to an error that quoted a row. */
const WRONG: Readonly<Record<string, (day: string) => { status?: number; body: unknown }>> = {
  'another type in every field': (day) => ({ body: { data: [row(day)] } }),
  'no date': () => ({ body: { data: [row(undefined)] } }),
  'text as the date': () => ({ body: { data: [row(MARKED)] } }),
  'the date of another day': () => ({ body: { data: [row('2020-01-01')] } }),
  'no user': (day) => ({ body: { data: [row(day, { user_id: null })] } }),
  'a row that is text': () => ({ body: { data: [MARKED] } }),
  'no rows': () => ({ body: { rows: [row(1)] } }),
  'a start_date that is text': (day) => ({ body: { data: [row(day)], start: MARKED } }),
  'a has_more that is text': (day) => ({ body: { data: [row(day)], more: MARKED } }),
  'a problem that quotes the row': () => ({
    status: 422,
    body: { title: `Invalid row`, detail: `user ${MARKED} has no sessions` },
  }),
}

/** The messages of a run: every file except those of served rows. */
async function saidIn(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const said = files.filter(
    (file) =>
      file.isFile() &&
      !/lake|published|warehouse|target/.test(
        join(file.parentPath, file.name).slice(folder.length),
      ),
  )
  return (
    await Promise.all(said.map((file) => readFile(join(file.parentPath, file.name), 'utf8')))
  ).join('\n')
}

async function rowsOf(data: string, sql: string): Promise<readonly Row[]> {
  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  return database.rows(sql).finally(() => {
    database.close()
  })
}

async function metaOf(data: string): Promise<string> {
  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    const { rows } = await database.table(
      `select table_name from information_schema.tables where table_schema = 'meta'`,
    )
    const tables = await Promise.all(
      rows.map((row) => database.rows(`select * from meta.${identifier(row.map(String).join())}`)),
    )
    return JSON.stringify(tables)
  } finally {
    database.close()
  }
}

it('law 11: rows of wrong responses are quoted neither on the terminal nor in logs, the ledger or meta', async () => {
  const data = await temporaryFolder()
  const kinds = Object.values(WRONG)
  const { url } = await testServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://platform')
    const [first, last] = [searchParams.get('startDate') ?? '', searchParams.get('endDate') ?? '']
    const headers = { date: new Date().toUTCString(), 'x-request-id': 'req-1' }
    const kind = kinds[(TODAY - Date.parse(first)) / MS_PER_DAY - 1]
    const isMarked = kind !== undefined && /tools|users/.test(pathname)
    if (isMarked && first !== last) {
      sendJson(response, 413, { title: 'Too wide' }, headers)
      return
    }
    const { status = 200, body } = isMarked ? kind(first) : { body: { data: [] } }
    const { start = first, more = false, ...rest } = Object(body) as Record<string, unknown>
    const meta = { org_id: 'o', start_date: start, has_more: more }
    sendJson(response, status, status === 200 ? { ...rest, meta } : body, headers)
  })
  const environment = { AGENT_BASE_URL: url, AGENT_API_KEY: 'key', AGENT_WAREHOUSE_DATA: data }
  const days = ['--from', dayBefore(kinds.length), '--to', dayBefore(1), '--only', 'tools,users']
  const { out, err, code } = await command(['run', ...days, '--log', 'json'], environment)
  expect(code, `${out}${err}`).toBe(3)
  const meta = await metaOf(data)
  expect(meta).toMatch(/row 0: 'date' is missing/)
  expect(meta).toMatch(/row 0: 'date' is a string of 20 characters/)
  expect(meta).toMatch(/unheard_of/)
  const unnamed = `select count(*) as n from fct_user_day where user_id = '(unattributed)'`
  expect(await rowsOf(data, unnamed)).toEqual([{ n: '1' }])
  expect([out, err, await saidIn(data), meta].join('\n')).not.toContain(MARKER)
})
