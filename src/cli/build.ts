import { build } from '../pipeline/pipeline.ts'
import { dataOptions, jsonOption, logOptions, type Command, type OptionsOf } from './command.ts'
import { configured } from './configured.ts'
import { runJob } from './job.ts'
import { momentOf } from './options.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  jsonOption(logOptions(dataOptions(yargs)))
    .option('select', {
      type: 'string',
      requiresArg: true,
      describe:
        'only these models: name, fct_*, +name (and what it needs), name+1, @name, tag:x, path:x, state:modified, result:error; a space is or, a comma is and',
    })
    .option('exclude', {
      type: 'string',
      requiresArg: true,
      describe: 'not these models, in the same words',
    })
    .option('retry', {
      type: 'boolean',
      conflicts: ['select', 'exclude', 'as-of'],
      describe: 'after a build that failed: only what it did not bring about',
    })
    .option('as-of', {
      type: 'string',
      requiresArg: true,
      conflicts: ['select', 'exclude'],
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
    ['$0 build --select state:modified+', 'what was changed, and what is made from it'],
    ['$0 build --retry', 'after a model that failed was mended'],
    ['$0 build --as-of 2026-03-01', 'the warehouse as it was known that evening'],
  ],
  options,
  run: async (flags, terminal) => {
    const config = configured(flags, terminal)
    const { log, json, select, exclude, retry, fullRefresh } = flags
    const asOf = flags.asOf === undefined ? undefined : momentOf(flags.asOf, '--as-of')
    return runJob(
      { command: 'build', config, log, json, maxDurationMs: Infinity, organisations: [] },
      terminal,
      (context, { runs }) =>
        build(context, {
          runs,
          fullRefresh,
          retry: retry === true,
          ...(select === undefined ? {} : { select }),
          ...(exclude === undefined ? {} : { exclude }),
          ...(asOf === undefined ? {} : { asOf }),
        }),
    )
  },
}
