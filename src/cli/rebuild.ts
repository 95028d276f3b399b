import { rebuild } from '../pipeline/pipeline.ts'
import { dataOptions, jsonOption, logOptions, type Command, type OptionsOf } from './command.ts'
import { configured } from './configured.ts'
import { runJob } from './job.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) => jsonOption(logOptions(dataOptions(yargs)))

export const rebuildCommand: Command<OptionsOf<typeof options>> = {
  examples: [['$0 rebuild', 'after a restore, or when the ledger or the base is in doubt']],
  options,
  run: async (flags, terminal) => {
    const config = configured(flags, terminal)
    const { log, json } = flags
    return runJob(
      { command: 'rebuild', config, log, json, maxDurationMs: Infinity, organisations: [] },
      terminal,
      (context, { runs }) => rebuild(context, { runs }),
    )
  },
}
