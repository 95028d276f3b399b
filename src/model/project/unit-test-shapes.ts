import { z } from 'zod'
import { recordsOf } from './records.ts'

/** The shapes of `unit_tests:` in yml, as dbt has them. */

const REF = /^ref\(\s*['"](\w+)['"]\s*\)$/
const SOURCE = /^source\(\s*['"](\w+)['"]\s*,\s*['"](\w+)['"]\s*\)$/

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()])
const row = z.record(z.string(), cell)

const formats = z
  .enum(['dict', 'csv', 'sql'], "the built-in runner reads the formats 'dict', 'csv' and 'sql'")
  .default('dict')

const fixture = {
  rows: z.union([z.array(row), z.string().trim().min(1)], 'a list of maps, or a text'),
  format: formats,
}

interface Written {
  readonly rows: z.output<typeof fixture.rows>
  readonly format: z.output<typeof formats>
}

function isOfItsFormat({ rows, format }: Written): boolean {
  return (format === 'dict') === (typeof rows !== 'string')
}

const formatRule = 'maps have the format dict, a text has the format csv or sql'

/** The text of a CSV as maps, its empty fields NULL. */
function asFixture<T extends Written>({ rows, ...rest }: T) {
  if (rest.format !== 'csv' || typeof rows !== 'string') return { ...rest, rows }
  const [header = [], ...records] = recordsOf(rows)
  const cellOf = (text: string | undefined) => (text === '' || text === undefined ? null : text)
  const maps = records.map((fields) =>
    Object.fromEntries(header.map((name, index) => [name, cellOf(fields[index])])),
  )
  return { ...rest, rows: maps }
}

const input = z
  .string()
  .refine(
    (text) => text === 'this' || REF.test(text) || SOURCE.test(text),
    "write ref('model'), source('source', 'table') or this",
  )
  .transform((text): UnitTestInput => {
    const [, ref] = REF.exec(text) ?? []
    const [, source, table] = SOURCE.exec(text) ?? []
    if (ref !== undefined) return { kind: 'ref', name: ref }
    if (source !== undefined && table !== undefined) return { kind: 'source', source, table }
    return { kind: 'this' }
  })

export type UnitTestInput =
  | { readonly kind: 'ref'; readonly name: string }
  | { readonly kind: 'source'; readonly source: string; readonly table: string }
  | { readonly kind: 'this' }

export const unitTestShape = z.strictObject({
  name: z.string().regex(/^[a-z_][a-z0-9_]*$/, 'a name is lower case letters, digits and _'),
  description: z.string().trim().min(1).optional(),
  model: z.string(),
  given: z
    .array(
      z
        .strictObject({ input, ...fixture })
        .refine(isOfItsFormat, formatRule)
        .transform((given) => asFixture(given)),
    )
    .default([]),
  expect: z
    .strictObject(fixture)
    .refine(isOfItsFormat, formatRule)
    .transform((expect) => asFixture(expect)),
  overrides: z
    .strictObject({
      macros: z.strictObject({ is_incremental: z.boolean().optional() }).default({}),
      vars: z.record(z.string(), z.unknown()).default({}),
    })
    .default({ macros: {}, vars: {} }),
})

export type UnitTestProperties = z.output<typeof unitTestShape>
/** Rows as maps, or a select. */
export type Fixture = UnitTestProperties['expect']['rows']
