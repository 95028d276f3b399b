import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientValues } from './client-values.ts'
import { landSpecification, type Landed } from './landed.ts'
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

it('a night of answers as specified is complete, and nothing is said of it', () => {
  expect(landed.complaints).toEqual([])
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

async function expectInWarehouse(
  { resource, name }: Section,
  { path, place }: Field,
  values: readonly unknown[],
): Promise<void> {
  if (place === 'raw') {
    const items = await landed.raw(resource ?? '')
    expect(items.flatMap((item) => valuesAt(item, path))).toEqual(
      expect.arrayContaining([...values]),
    )
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
  const expected: unknown[] = values.map((value) =>
    SECRETS.test(path) ? (expect.stringMatching(/^\[redacted:[0-9a-f]{8}\]$/) as unknown) : value,
  )
  expect(current).toEqual(expect.arrayContaining(expected))
}

/** Settings whose values are taken out before anything is written. */
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
