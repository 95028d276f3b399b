import { loadConfig } from '../config.ts'
import { build } from '../pipeline.ts'
import { dataOptions, jsonOption, logOptions, type Command, type OptionsOf } from './command.ts'
import { runJob } from './job.ts'
import { momentOf } from './options.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  jsonOption(logOptions(dataOptions(yargs)))
    .option('select', {
      type: 'string',
      requiresArg: true,
      describe: 'only these models: name, +name (and what it needs), name+, tag:x, path:x',
    })
    .option('as-of', {
      type: 'string',
      requiresArg: true,
      conflicts: 'select',
      describe: 'what was known at a time: 2026-03-01T06:00:00Z, or 2026-03-01 for the end of it',
    })
    .option('full-refresh', {
      type: 'boolean',
      default: false,
      describe: 'make every model anew whole, also those of which only changed days are due',
    })

export const buildCommand: Command<OptionsOf<typeof options>> = {
  examples: [
    ['$0 build', 'all models'],
    ['$0 build --select +fct_user_day', 'one mart and what it is made from'],
    ['$0 build --as-of 2026-03-01', 'the warehouse as it was known that evening'],
  ],
  options,
  run: async (flags, terminal) => {
    const config = loadConfig(flags, terminal.environment, terminal.cwd)
    const { log, json, select, fullRefresh } = flags
    const asOf = flags.asOf === undefined ? undefined : momentOf(flags.asOf, '--as-of')
    return runJob(
      { command: 'build', config, log, json, maxDurationMs: Infinity, secrets: [] },
      terminal,
      (job, { runs }) =>
        build(job, {
          runs,
          fullRefresh,
          ...(select === undefined ? {} : { select }),
          ...(asOf === undefined ? {} : { asOf }),
        }),
    )
  },
}
