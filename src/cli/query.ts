import { loadConfig } from '../config.ts'
import { ExitCode } from '../core/errors.ts'
import { formatResult, outputFormats } from '../serve/format.ts'
import { query } from '../serve/query.ts'
import { warehousePath } from '../store/lake.ts'
import { dataOptions, type Command, type OptionsOf } from './command.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  dataOptions(yargs)
    .positional('sql', { type: 'string', demandOption: true, describe: 'one statement' })
    .option('format', {
      choices: outputFormats,
      describe: 'form of the answer (default table)',
    })
    .option('json', { type: 'boolean', default: false, describe: 'the same as --format json' })

export const queryCommand: Command<OptionsOf<typeof options>> = {
  examples: [
    ['$0 query "from fct_org_day order by activity_date desc limit 7"', 'the last week'],
    ['$0 query "select * from meta.intervals" --format csv', 'for a spreadsheet'],
  ],
  options,
  run: async ({ sql, json, ...flags }, terminal) => {
    const config = loadConfig(flags, terminal.environment, terminal.cwd)
    const table = await query(warehousePath(config.dataFolder), sql)
    const format = flags.format ?? (json ? 'json' : 'table')
    terminal.out(
      formatResult(
        table,
        format,
        terminal.outWidth === undefined ? {} : { width: terminal.outWidth },
      ),
    )
    return ExitCode.complete
  },
}
