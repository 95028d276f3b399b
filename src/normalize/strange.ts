import { listLiteral, literal, type Cell, type Database } from '../lib/duckdb.ts'
import { statement, fill } from '../lib/package.ts'
import type { DayBatch, DaySource } from './batch.ts'
import { shapeOf, type Documented, type ReadShape, type Sample } from './documented.ts'

const SAMPLE = statement('drift/sample')
const ITEMS_UNREAD = statement('drift/items_unread')
const READ_BACK = statement('drift/read_back')
const STRANGE = statement('drift/strange')
const STRANGE_DAYS = statement('drift/strange_days')
const ROWS_STRANGE = statement('drift/rows_strange')
const ROWS_WHOLE = statement('drift/rows_whole')
const ITEMS = statement('drift/items')

/** What the strange items are found by. */
export const STRANGE_STATEMENTS: readonly string[] = [
  SAMPLE,
  ITEMS_UNREAD,
  READ_BACK,
  STRANGE,
  STRANGE_DAYS,
  ROWS_STRANGE,
  ROWS_WHOLE,
  ITEMS,
]

/** Where items may be otherwise than documented: nowhere, in their own fields alone, or within these too. */
export type Strangeness = 'none' | 'own fields' | 'anywhere'

/**
 * Makes `items` of those that may be otherwise than documented: each by itself, or
 * the first of many in one shape; none of `Strangeness` 'none'.
 */
export async function takeStrangeItems(
  database: Database,
  batch: DayBatch,
  documented: Documented,
): Promise<Strangeness> {
  await batch.read(someOf(batch.days))
  const shapes = await shapesServed(database, documented)
  await batch.read(batch.days)
  await database.run(fill(STRANGE, { items: readBackSql(shapes) }))
  const { rows } = await database.table(STRANGE_DAYS)
  if (rows.length === 0) return 'none'
  const strange = rows.map(([day, bytes, longest, hasUnlike]) => ({
    day: typeof day === 'string' ? day : '',
    bytes: Number(bytes),
    longest: Number(longest),
    hasUnlike: hasUnlike === true,
  }))
  const dates = new Set(strange.map(({ day }) => day))
  await batch.read(batch.days.filter(({ day }) => dates.has(day)))
  await database.run(itemsSql(strange))
  return strange.some(({ hasUnlike }) => hasUnlike) ? 'anywhere' : 'own fields'
}

/** One day in so many tells how items are served. */
const DAYS_PER_SAMPLE = 8

function someOf(days: readonly DaySource[]): DaySource[] {
  return days.filter((_, at) => at % DAYS_PER_SAMPLE === 0)
}

/** The shapes that items are served in, the most frequent first. */
async function shapesServed(database: Database, documented: Documented): Promise<ReadShape[]> {
  const kinds = [...documented.keys()].filter((kind) => kind !== '$' && !kind.includes('*'))
  const fields = kinds.map((kind) => {
    const first = `json_extract(item, ${literal(kind.replaceAll('[]', '[0]'))})`
    const all = `json_extract(item, ${literal(kind.replaceAll('[]', '[*]'))})`
    // all elements take far more time and memory than the first
    const object = kind.includes('[]') ? `coalesce(${first}, ${all}[1])` : first
    return `try(json_keys(${object}))`
  })
  const { rows } = await database.table(fill(SAMPLE, { fields: fields.join(', ') }))
  return rows.flatMap(([keys, found]) => {
    const sample: Sample = new Map(
      kinds.flatMap((kind, at) => {
        const own = namesIn(Array.isArray(found) ? (found as readonly Cell[])[at] : null)
        return own === null ? [] : [[kind, own] as const]
      }),
    )
    return shapeOf(documented, namesIn(keys) ?? [], sample) ?? []
  })
}

function namesIn(cell: Cell | undefined): string[] | null {
  return Array.isArray(cell) ? cell.map(String) : null
}

/** Items with the first shape that they come back from; 0 for all in which they are as documented. */
function readBackSql(shapes: readonly ReadShape[]): string {
  return shapes.reduce(
    (items, { shape, conditions, isDocumented }, at) =>
      fill(READ_BACK, {
        items,
        shape: literal(shape),
        conditions: ['true', ...conditions].join(' and '),
        alike: String(isDocumented ? 0 : at + 1),
      }),
    ITEMS_UNREAD,
  )
}

/** Items of this size are gathered if they are few, shorter ones in any number: gathered items are read once. */
const GATHERED_BYTES = 8 * 2 ** 20
const SHORT_ITEM_BYTES = 16 * 2 ** 10

interface StrangeDay {
  readonly day: string
  readonly bytes: number
  /** The bytes of its longest item. */
  readonly longest: number
  /** Whether an item comes back from no shape: one that does is as documented within. */
  readonly hasUnlike: boolean
}

function itemsSql(days: readonly StrangeDay[]): string {
  const bytes = days.reduce((sum, day) => sum + day.bytes, 0)
  const longest = Math.max(...days.map((day) => day.longest))
  if (bytes <= GATHERED_BYTES || longest <= SHORT_ITEM_BYTES) {
    return `create or replace temp table strange_items as ${fill(ITEMS, { rows: ROWS_STRANGE })};
      create or replace temp view items as from strange_items`
  }
  const unlike = days.filter(({ hasUnlike }) => hasUnlike).map(({ day }) => day)
  const rows = fill(ROWS_WHOLE, { days: listLiteral(unlike) })
  return `create or replace temp view items as ${fill(ITEMS, { rows })}`
}
