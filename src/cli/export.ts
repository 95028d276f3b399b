import { EXPORT_TARGETS } from '../config/config.ts'
import { ExitCode } from '../lib/errors.ts'
import { exportMarts } from '../pipeline/publish.ts'
import { dataOptions, jsonOption, logOptions, type Command, type OptionsOf } from './command.ts'
import { configured } from './configured.ts'
import { runJob } from './job.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  jsonOption(logOptions(dataOptions(yargs))).positional('target', {
    choices: EXPORT_TARGETS,
    demandOption: true,
    describe: 'the form of the files',
  })

export const exportCommand: Command<OptionsOf<typeof options>> = {
  examples: [
    ['$0 export parquet', 'one Parquet file a mart, and a manifest'],
    ['$0 export csv', 'for spreadsheets'],
    ['$0 export duckdb', 'marts and meta in one file, for BI tools'],
  ],
  options,
  run: async (flags, terminal) => {
    const config = configured(flags, terminal)
    const { log, json, target } = flags
    return runJob(
      { command: 'export', config, log, json, maxDurationMs: Infinity, organisations: [] },
      terminal,
      async (context) => {
        await exportMarts(context, target)
        return { exitCode: ExitCode.complete }
      },
    )
  },
}
