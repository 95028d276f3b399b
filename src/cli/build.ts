import { loadConfig } from '../config.ts'
import { ExitCode } from '../core/errors.ts'
import { build } from '../pipeline.ts'
import { dataOptions, jsonOption, logOptions, type Command, type OptionsOf } from './command.ts'
import { runJob } from './job.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  jsonOption(logOptions(dataOptions(yargs))).option('select', {
    type: 'string',
    requiresArg: true,
    describe: 'only these models: name, +name (and what it needs), name+, tag:x, path:x',
  })

export const buildCommand: Command<OptionsOf<typeof options>> = {
  examples: [
    ['$0 build', 'all models'],
    ['$0 build --select +fct_user_day', 'one mart and what it is made from'],
  ],
  options,
  run: async (flags, terminal) => {
    const config = loadConfig(flags, terminal.environment, terminal.cwd)
    const { log, json, select } = flags
    return runJob(
      { command: 'build', config, log, json, maxDurationMs: Infinity, secrets: [] },
      terminal,
      async (job, { runs }) => {
        await build(job, select === undefined ? { runs } : { runs, select })
        return { exitCode: ExitCode.complete }
      },
    )
  },
}
