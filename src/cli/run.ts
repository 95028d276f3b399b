import { run } from '../pipeline/pipeline.ts'
import { dataOptions, jsonOption, logOptions, type Command, type OptionsOf } from './command.ts'
import { configured } from './configured.ts'
import { resumeSender } from './hooks-resume.ts'
import { runJob } from './job.ts'
import {
  durationOf,
  paceOptions,
  REPEATABLE_SELECTION,
  selectionOf,
  selectionOptions,
} from './options.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  jsonOption(logOptions(paceOptions(selectionOptions(dataOptions(yargs)))))

export const runCommand: Command<OptionsOf<typeof options>> = {
  examples: [
    ['$0 run', 'the whole history the first time, then what is missing or due'],
    ['$0 run --data ./warehouse --log json', 'from cron, with a log for machines'],
  ],
  options,
  repeatable: REPEATABLE_SELECTION,
  run: async (flags, terminal) => {
    const selection = selectionOf(flags)
    const maxDurationMs = durationOf(flags.maxDuration, '--max-duration')
    const config = configured(flags, terminal)
    const organisations = config.organisations()
    const { log, json } = flags
    const exitCode = await runJob(
      { command: 'run', config, log, json, maxDurationMs, organisations },
      terminal,
      (context, observer) => run(context, selection, observer.runs),
    )
    await resumeSender(config, flags, terminal)
    return exitCode
  },
}
