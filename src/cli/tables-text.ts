import { displayWidth, visible } from '../serve/display.ts'
import type { ColumnEntry, TableDescription, TableEntry } from '../serve/tables.ts'

/** Fewer columns than this beside the names are too few to read a sentence in. */
const LEAST_WIDTH = 30

/** Tables and what one row of each is, a line each where the terminal is wide enough. */
export function tableListText(tables: readonly TableEntry[], width: number | undefined): string {
  const rows = tables.map((each) => [nameOf(each), sentence(each.description)] as const)
  const widest = Math.max(0, ...rows.map(([name]) => displayWidth(name)))
  const room = width === undefined ? Infinity : width - widest - 2
  const lines = rows.flatMap(([name, meaning]) =>
    room < LEAST_WIDTH
      ? [name, ...wrapped(meaning, (width ?? 80) - 2).map((line) => `  ${line}`)]
      : orBlank(wrapped(meaning, room)).map((line, at) =>
          `${(at === 0 ? name : '').padEnd(widest)}  ${line}`.trimEnd(),
        ),
  )
  const more = 'agent-warehouse tables <name> shows the columns of one.'
  return text([...lines, '', ...wrapped(more, width ?? Infinity)])
}

/** One table: its meaning, then each column with its type, its unit and how it adds up. */
export function tableText(table: TableDescription, width: number | undefined): string {
  const widest = Math.max(0, ...table.columns.map((each) => displayWidth(each.column_name)))
  const meaning = wrapped(visible(table.description ?? ''), width ?? Infinity)
  const columns = table.columns.flatMap((each) => columnLines(each, widest, width ?? Infinity))
  return text([nameOf(table), ...meaning, '', ...columns])
}

function columnLines(column: ColumnEntry, widest: number, width: number): string[] {
  const { column_name, data_type, unit, additivity, description } = column
  const kind = [data_type, unit, additivity === null ? null : additivityText(additivity)]
    .filter((each) => each !== null)
    .join(', ')
  const name = visible(column_name)
  const room = width - widest - 2
  const first =
    room < displayWidth(kind)
      ? [name, ...wrapped(kind, width - 2).map((line) => `  ${line}`)]
      : [`${name.padEnd(widest)}  ${kind}`]
  return [...first, ...wrapped(visible(description ?? ''), width - 4).map((line) => `    ${line}`)]
}

const ADDITIVITY: Readonly<Record<string, string>> = {
  additive: 'adds up',
  none: 'does not add up',
  distinct_per_day: 'distinct per day: does not add up',
  trailing: 'trailing: take the last day of a period',
  snapshot: 'snapshot: adds up, but not over days',
  average: 'average: is not averaged again',
  percentile: 'percentile: is not averaged',
  ratio: 'ratio: of a period, divide the sums',
  share: 'share: does not add up',
  mode: 'most frequent value',
}

function additivityText(additivity: string): string {
  return ADDITIVITY[additivity] ?? additivity
}

function nameOf({ table_schema, table_name }: TableEntry): string {
  return visible(table_schema === 'main' ? table_name : `${table_schema}.${table_name}`)
}

/** The first sentence: what one row is. */
function sentence(description: string | null): string {
  const [, first] = /^(.*?[.:;])\s/s.exec(`${visible(description ?? '')} `) ?? []
  return (first ?? '').replace(/[:;]$/, '.')
}

/** Words in lines of at most `width`; a longer word has a line of its own. */
function wrapped(words: string, width: number): string[] {
  const lines = ['']
  for (const word of words.split(/\s+/).filter((each) => each !== '')) {
    const last = lines.at(-1) ?? ''
    if (last === '') lines[lines.length - 1] = word
    else if (displayWidth(last) + 1 + displayWidth(word) <= width) {
      lines[lines.length - 1] = `${last} ${word}`
    } else lines.push(word)
  }
  return lines.filter((line) => line !== '')
}

/** What has no words has a line all the same. */
function orBlank(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [''] : lines
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
