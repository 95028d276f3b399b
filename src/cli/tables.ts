import { ExitCode } from '../lib/errors.ts'
import { describeTable, listTables } from '../serve/tables.ts'
import { warehousePath } from '../lake/layout.ts'
import { dataOptions, jsonOption, type Command, type OptionsOf } from './command.ts'
import { configured } from './configured.ts'
import { tableListText, tableText } from './tables-text.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  jsonOption(dataOptions(yargs)).positional('name', {
    type: 'string',
    describe: 'a table: its columns',
  })

export const tablesCommand: Command<OptionsOf<typeof options>> = {
  examples: [
    ['$0 tables', 'every mart and what one row of it is'],
    ['$0 tables fct_model_day', 'its columns: type, unit, how they add up, meaning'],
    ['$0 tables meta.intervals --json', 'for machines'],
  ],
  options,
  run: async (flags, terminal) => {
    const { dataFolder } = configured(flags, terminal)
    const path = warehousePath(dataFolder)
    const { outWidth: width } = terminal
    if (flags.name === undefined) {
      const tables = await listTables(path)
      terminal.out(flags.json ? json(tables) : tableListText(tables, width))
    } else {
      const table = await describeTable(path, flags.name)
      terminal.out(flags.json ? json(table) : tableText(table, width))
    }
    return ExitCode.complete
  },
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
