import { ExitCode, UsageError } from '../lib/errors.ts'
import { displayWidth, formatResult, linesText, outputFormats, visible } from '../serve/format.ts'
import { query, analysesTable, analysis } from '../serve/query.ts'
import {
  describeTable,
  listTables,
  type ColumnEntry,
  type TableDescription,
  type TableEntry,
} from '../serve/tables.ts'
import { warehousePath } from '../lake/layout.ts'
import { dataCommand, flag, jsonOption, optionalArgument, text } from './command.ts'
import { stoppable } from './signals.ts'

export const queryCommand = dataCommand({
  examples: {
    '$0 query "from fct_org_day order by activity_date desc limit 7"': 'show the last seven days',
    '$0 query "select * from meta.intervals" --format csv': 'write CSV, for a spreadsheet',
    '$0 query --list': 'list the ready-made questions',
    '$0 query --analysis spend_by_team': 'answer one of them',
  },
  options: {
    format: {
      choices: outputFormats,
      describe:
        'output format (default: table). In a pipe or a file, json and csv contain every value unchanged, with these exceptions: json writes as strings the numbers that most readers would round, and as null NaN and the infinities; csv puts an apostrophe before a value that a spreadsheet would run as a formula. On a terminal, and in tables, control and invisible characters are written as \\u001b',
    },
    json: flag('the same as --format json'),
    analysis: text('answer the ready-made question of this name'),
    list: flag('list the ready-made questions'),
    sql: optionalArgument('one SELECT statement, in quotes'),
  },
  run: ({ sql, json, ...flags }, terminal) => {
    if (json && (flags.format ?? 'json') !== 'json') {
      throw new UsageError(`--json and --format ${flags.format} contradict each other`, {
        hint: 'Leave out one of the two.',
      })
    }
    const sqlAsked = statementOf(sql, flags)
    const format = flags.format ?? (json ? 'json' : 'table')
    const write = format === 'table' ? terminal.out : terminal.data
    return async ({ dataFolder }) => {
      const path = warehousePath(dataFolder)
      const table =
        sqlAsked === null
          ? analysesTable()
          : await stoppable((signal) => query(path, sqlAsked, signal))
      write(formatResult(table, format, terminal.outWidth))
      return ExitCode.complete
    }
  },
})

/** The statement to run; null to list the ready-made ones. @throws UsageError */
function statementOf(
  sql: string | undefined,
  { analysis: name, list }: { readonly analysis?: string | undefined; readonly list: boolean },
): string | null {
  const given = [sql, name, list ? '' : undefined].filter((each) => each !== undefined)
  if (given.length !== 1) {
    const wrong = given.length === 0 ? '0 given, at least 1 needed' : 'more than one is given'
    throw new UsageError(`arguments: ${wrong}`, {
      hint: 'One of: a statement in quotes, --analysis <name>, --list.',
    })
  }
  if (list) return null
  return sql?.trim() ?? analysis(name ?? '').sql
}

export const tablesCommand = dataCommand({
  examples: {
    '$0 tables': 'list the marts and what one row of each is',
    '$0 tables fct_model_day': 'show the type, unit, additivity and meaning of each column',
    '$0 tables meta.intervals --json': 'show the columns as JSON',
  },
  options: {
    ...jsonOption,
    name: optionalArgument('name of a table, to show its columns'),
  },
  run:
    ({ name }, { outWidth }) =>
    async ({ dataFolder }) => {
      const path = warehousePath(dataFolder)
      if (name === undefined) {
        const tables = await listTables(path)
        return { json: tables, text: tableListText(tables, outWidth) }
      }
      const table = await describeTable(path, name)
      return { json: table, text: tableText(table, outWidth) }
    },
})

/** A sentence is unreadable in fewer columns next to the names. */
const LEAST_WIDTH = 30

/** Tables and the grain of each, on one line each if the terminal is wide enough. */
export function tableListText(tables: readonly TableEntry[], width: number | undefined): string {
  const rows = tables.map((each) => [nameOf(each), sentence(each.description)] as const)
  const widest = Math.max(0, ...rows.map(([name]) => displayWidth(name)))
  const lines = rows.flatMap(([name, meaning]) =>
    beside(name, widest, meaning, width ?? Infinity, LEAST_WIDTH),
  )
  const more = 'agent-warehouse tables <name> shows the columns of one.'
  return linesText([...lines, '', ...wrapped(more, width ?? Infinity)])
}

/** One table: its meaning, then each column with type, unit, additivity and meaning. */
export function tableText(table: TableDescription, width: number | undefined): string {
  const widest = Math.max(0, ...table.columns.map((each) => displayWidth(each.column_name)))
  const meaning = wrapped(table.description ?? '', width ?? Infinity)
  const columns = table.columns.flatMap((each) => columnLines(each, widest, width ?? Infinity))
  return linesText([nameOf(table), ...meaning, '', ...columns])
}

function columnLines(column: ColumnEntry, widest: number, width: number): string[] {
  const { column_name, data_type, unit, additivity, description } = column
  const kind = [
    data_type,
    unit,
    additivity === null ? null : (ADDITIVITY[additivity] ?? additivity),
  ]
    .filter((each) => each !== null)
    .join(', ')
  const first = beside(visible(column_name), widest, kind, width, displayWidth(kind))
  return [...first, ...wrapped(description ?? '', width - 4).map((line) => `    ${line}`)]
}

const ADDITIVITY: Readonly<Record<string, string>> = {
  additive: 'adds up',
  none: 'does not add up',
  distinct_per_day: 'distinct per day: does not add up',
  trailing: 'trailing: take the last day of a period',
  snapshot: 'snapshot: adds up, but not over days',
  average: 'average: cannot be averaged again',
  percentile: 'percentile: cannot be averaged',
  ratio: 'ratio: for a period, divide the sums',
  share: 'share: does not add up',
  mode: 'most frequent value',
}

function nameOf({ table_schema, table_name }: TableEntry): string {
  return visible(table_schema === 'main' ? table_name : `${table_schema}.${table_name}`)
}

function sentence(description: string | null): string {
  const [, first] = /^(.*?[.:;])\s/s.exec(`${description ?? ''} `) ?? []
  return (first ?? '').replace(/[:;]$/, '.')
}

/** A name, and text beside it, or below it if there are fewer columns than `least` for it. */
function beside(
  name: string,
  widest: number,
  text: string,
  width: number,
  least: number,
): string[] {
  const room = width - widest - 2
  if (room < least) return [name, ...wrapped(text, width - 2).map((line) => `  ${line}`)]
  const [first = '', ...more] = wrapped(text, room)
  return [first, ...more].map((line, at) =>
    `${(at === 0 ? name : '').padEnd(widest)}  ${line}`.trimEnd(),
  )
}

/**
 * Wraps words in lines of at most `width`; a longer word has its own line. Line breaks are
 * spaces, because descriptions are written in paragraphs; control characters are escaped.
 */
function wrapped(words: string, width: number): string[] {
  const lines: string[] = []
  for (const each of words.split(/\s+/).filter((word) => word !== '')) {
    const word = visible(each)
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && displayWidth(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}
