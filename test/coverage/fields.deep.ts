import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientValues } from './client-values.ts'
import { landSpecification, type Landed } from './landed.ts'
import { HOOK_INPUTS, hookTitle } from './specification/hooks.ts'
import { ORG, TOOLS } from './specification/samples.ts'
import { SECTIONS } from './specification/sections.ts'
import { fieldsOf, valuesAt, type Field, type Section } from './specification/section.ts'
import { readTypes, type TypeLookup } from './types.ts'

const ends: (() => void | Promise<void>)[] = []
let landed: Landed
let types: TypeLookup
let answers: Readonly<Record<string, unknown>>

beforeAll(async () => {
  landed = await landSpecification((end) => ends.push(end))
  answers = await clientValues(landed.client)
  types = readTypes([...new Set(SECTIONS.flatMap(({ type }) => type ?? []))])
})
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

it('a night with responses as specified is complete, without a warning', () => {
  expect(landed.warnings).toEqual([])
})

describe.each(SECTIONS.map((section) => [section.heading, section] as const))(
  '%s',
  (_, section) => {
    it.each(fieldsOf(section).map((field) => [field.title, field] as const))(
      '%s',
      async (_title, field) => {
        const specified = valuesAt(section.sample, field.path)
        expect(specified.length, 'the sample has the field').toBeGreaterThan(0)
        if (section.type !== null) {
          expect(types(section.type, field.path, field.type)).toBe('as specified')
        }
        expect(valuesAt(answers[section.name], field.path)).toEqual(specified)
        if (field.place !== 'client') await expectInWarehouse(section, field, specified)
      },
    )
  },
)

describe('the data that the specification describes', () => {
  const rows = (sql: string) => landed.warehouse.rows(sql)

  it('every row has the organisation that the responses name', async () => {
    for (const table of ['fct_org_day', 'fct_user_day', 'fct_session', 'dim_computer']) {
      expect(await rows(`select distinct org_id from ${table}`)).toEqual([{ org_id: ORG }])
    }
  })

  it('spellings of an MCP server are merged into one server, with their invocations summed', async () => {
    const [first, second] = TOOLS.mcp_by_server.map(({ invocations }) => invocations)
    expect(
      await rows(
        'select mcp_server, cast(invocations as integer) as invocations from fct_mcp_server_day',
      ),
    ).toEqual([{ mcp_server: 'linear', invocations: (first ?? 0) + (second ?? 0) }])
  })

  it('a tool name with a parsing artifact is mapped to its tool', async () => {
    expect(await rows('select * from map_tool_spelling order by spelling')).toMatchObject([
      { spelling: 'Read', tool_name: 'Read' },
      { spelling: 'Read{"file_path":"/tmp/a', tool_name: 'Read' },
    ])
  })

  it('a user of several clients is counted once overall, and once in each client', async () => {
    expect(await rows('from fct_client_overlap_day')).toMatchObject([
      { daily_active_users: '31', client_memberships: '36', active_clients: '3' },
    ])
  })

  it.each(['idle', 'pending', 'running'])(
    'a session that is %s is in fct_session',
    async (status) => {
      const sql = `select count(*) > 0 as is_there from fct_session where status = '${status}'`
      expect(await rows(sql)).toEqual([{ is_there: true }])
    },
  )

  it.each(['provisioning', 'active', 'error'])(
    'a computer that is %s is in dim_computer',
    async (status) => {
      const sql = `select count(*) = 1 as is_there from dim_computer where status = '${status}'`
      expect(await rows(sql)).toEqual([{ is_there: true }])
    },
  )

  it('analytics are requested from 2026-01-14 to yesterday, and never for today', () => {
    const asked = landed.requests
      .filter((request) => request.includes('/analytics/'))
      .map((request) => new URLSearchParams(request.split('?')[1]))
    expect(asked.length).toBeGreaterThanOrEqual(8)
    expect(new Set(asked.map((query) => query.get('startDate')))).toEqual(new Set(['2026-01-14']))
    expect(new Set(asked.map((query) => query.get('endDate')))).toEqual(new Set(['2026-01-14']))
  })

  it('users are requested in pages of 100', () => {
    const pages = landed.requests.filter((request) => request.includes('/analytics/users?'))
    expect(pages.length).toBeGreaterThan(0)
    for (const page of pages) expect(page).toMatch(/[?&]limit=100(&|$)/)
  })
})

describe('hook events', () => {
  it.each(HOOK_INPUTS.map((input) => [hookTitle(input), input] as const))(
    '%s',
    async (
      _,
      { hook_event_name: name, session_id: session, cwd, message = null, reason = null },
    ) => {
      const sql = `from fct_hook_event where hook_event = '${name}' and session_id = '${session}'`
      const isFailure = name === 'SessionEnd' ? ['error', 'other'].includes(reason ?? '') : null
      expect(await landed.warehouse.rows(sql)).toMatchObject([
        { cwd, message, reason, is_failure: isFailure },
      ])
    },
  )
})

async function expectInWarehouse(
  { resource, name }: Section,
  { path, place }: Field,
  values: readonly unknown[],
): Promise<void> {
  if (place === 'raw') {
    const items = await landed.raw(resource ?? '')
    const found = items.flatMap((item) => valuesAt(item, path))
    expect(found).toEqual(expect.arrayContaining([...values]))
    return
  }
  if (place === 'setting') {
    await expectSetting(`${PREFIXES[name] ?? ''}${path}`, values)
    return
  }
  const [, table = '', column = '', filter, unit] =
    /^(\w+)(?:\.(\w+))?(?:\[(.*)\])?(?:#(\w+))?$/.exec(place) ?? []
  const [by, only] = filter?.split('=') ?? []
  const rows = `${schemaOf(table)}.${table} ${by === undefined ? '' : `where ${by} = '${only}'`}`
  if (unit === 'rows') {
    const [row] = await landed.warehouse.rows(`select count(*) as n from ${rows}`)
    expect(Number(row?.['n'])).toBe(keysOf(values[0]).length)
    return
  }
  const { types: kinds } = await landed.warehouse.table(`select ${column} from ${rows} limit 0`)
  const isTime = kinds[0] === 'TIMESTAMP WITH TIME ZONE'
  const cell = isTime ? `epoch_ms(${column})` : column
  const { rows: cells } = await landed.warehouse.table(`select distinct ${cell} from ${rows}`)
  const found = cells
    .flat()
    .map((each) => (unit === 'keys' ? textOf(each).replace(/[.[].*/, '') : comparable(each)))
  const expected = values.flatMap((value) => {
    if (unit === 'size') return [sizeOf(value)]
    if (unit === 'keys') return keysOf(value)
    if (isTime && typeof value === 'string') return [Date.parse(value)]
    return Array.isArray(value) ? (value as unknown[]) : [value]
  })
  expect(found).toEqual(expect.arrayContaining(expected.map(comparable)))
}

/** A setting is a row by its path; the keys of maps and of lists of objects are in it. */
async function expectSetting(path: string, values: readonly unknown[]): Promise<void> {
  const steps = path.split(/\.|(?=\[\])/).map((step) => {
    if (step === '*') return '.+'
    return step === '[]' ? '\\[[^\\]]*\\]' : step
  })
  const isWhole = values.every((value) => typeof value !== 'object' || isList(value))
  const pattern = new RegExp(`^${steps.join('["\\]]*\\.?')}${isWhole ? '' : '.+'}$`)
  const rows = await landed.warehouse.rows('from dim_control_current')
  const found = rows.filter((row) => pattern.test(textOf(row['settings_path'])))
  if (!isWhole) {
    expect(found.length).toBeGreaterThan(0)
    return
  }
  const current = found.map((row) => JSON.parse(textOf(row['current_value'])) as unknown)
  const expected: unknown[] = values.map((value) => (SECRETS.test(path) ? A_MARKER : value))
  expect(current).toEqual(expect.arrayContaining(expected))
}

const A_MARKER: unknown = expect.stringMatching(/^\[redacted:[0-9a-f]{8}\]$/)

/** Settings whose values are redacted before anything is written. */
const SECRETS = /(apiKey|extraHeaders\.\*|cloudAuthRefresh|cloudCredentialExport)$/

const PREFIXES: Readonly<Record<string, string>> = {
  source: 'strictKnownMarketplaces',
  customModel: 'customModels[].',
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each !== 'object')
}

function schemaOf(table: string): string {
  return table.startsWith('stg_') ? 'staging' : 'main'
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' ? value.length : keysOf(value).length
}

/** Numbers are compared as numbers, however a cell spells them. */
function comparable(value: unknown): unknown {
  const isNumber = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)
  return isNumber ? Number(value) : value
}

function keysOf(value: unknown): string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
