import { ExitCode } from '../lib/errors.ts'
import { formatResult, outputFormats } from '../serve/format.ts'
import { query } from '../serve/query.ts'
import { warehousePath } from '../lake/layout.ts'
import { dataOptions, type Command, type OptionsOf } from './command.ts'
import { configured } from './configured.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  dataOptions(yargs)
    .positional('sql', { type: 'string', demandOption: true, describe: 'one statement' })
    .option('format', {
      choices: outputFormats,
      describe:
        'form of the answer (default table). json and csv into a pipe or a file: every value as it is, but that csv puts an apostrophe before what a spreadsheet would run; on a terminal, and in tables, control and invisible characters are written as \\u001b',
    })
    .option('json', { type: 'boolean', default: false, describe: 'the same as --format json' })

export const queryCommand: Command<OptionsOf<typeof options>> = {
  examples: [
    ['$0 query "from fct_org_day order by activity_date desc limit 7"', 'the last week'],
    ['$0 query "select * from meta.intervals" --format csv', 'for a spreadsheet'],
  ],
  options,
  run: async ({ sql, json, ...flags }, terminal) => {
    const config = configured(flags, terminal)
    const table = await query(warehousePath(config.dataFolder), sql)
    const format = flags.format ?? (json ? 'json' : 'table')
    const width = terminal.outWidth === undefined ? {} : { width: terminal.outWidth }
    const write = format === 'table' ? terminal.out : terminal.data
    write(formatResult(table, format, width))
    return ExitCode.complete
  },
}
