import { ExitCode } from '../lib/errors.ts'
import { formatResult, outputFormats } from '../serve/format.ts'
import { query } from '../serve/query.ts'
import { describeTable, listTables } from '../serve/tables.ts'
import { warehousePath } from '../lake/layout.ts'
import {
  argument,
  configured,
  dataOptions,
  defineCommand,
  flag,
  jsonOf,
  jsonOption,
  optionalArgument,
} from './command.ts'
import { tableListText, tableText } from './tables-text.ts'

export const queryCommand = defineCommand({
  examples: [
    ['$0 query "from fct_org_day order by activity_date desc limit 7"', 'the last week'],
    ['$0 query "select * from meta.intervals" --format csv', 'for a spreadsheet'],
  ],
  options: {
    ...dataOptions,
    format: {
      choices: outputFormats,
      describe:
        'form of the answer (default table). json and csv into a pipe or a file: every value as it is, except that csv puts an apostrophe before what a spreadsheet would run; on a terminal, and in tables, control and invisible characters are written as \\u001b',
    },
    json: flag('the same as --format json'),
    sql: argument('one statement'),
  },
  run: async ({ sql, json, ...flags }, terminal) => {
    const config = configured(flags, terminal)
    const table = await query(warehousePath(config.dataFolder), sql)
    const format = flags.format ?? (json ? 'json' : 'table')
    const width = terminal.outWidth === undefined ? {} : { width: terminal.outWidth }
    const write = format === 'table' ? terminal.out : terminal.data
    write(formatResult(table, format, width))
    return ExitCode.complete
  },
})

export const tablesCommand = defineCommand({
  examples: [
    ['$0 tables', 'every mart and what one row of it is'],
    ['$0 tables fct_model_day', 'its columns: type, unit, how they add up, meaning'],
    ['$0 tables meta.intervals --json', 'for machines'],
  ],
  options: { ...dataOptions, ...jsonOption, name: optionalArgument('a table: its columns') },
  run: async ({ name, json, ...flags }, { out, outWidth, ...terminal }) => {
    const path = warehousePath(configured(flags, terminal).dataFolder)
    if (name === undefined) {
      const tables = await listTables(path)
      out(json ? jsonOf(tables) : tableListText(tables, outWidth))
    } else {
      const table = await describeTable(path, name)
      out(json ? jsonOf(table) : tableText(table, outWidth))
    }
    return ExitCode.complete
  },
})
