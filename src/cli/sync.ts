import { sync } from '../pipeline/pipeline.ts'
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

export const syncCommand: Command<OptionsOf<typeof options>> = {
  examples: [
    ['$0 sync', 'land what is missing, up to yesterday'],
    ['$0 sync --from 2026-02-01 --to 2026-02-28 --refetch', 'a month once more'],
    ['$0 sync --only users --max-duration 20m', 'users alone, for 20 minutes at most'],
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
      { command: 'sync', config, log, json, maxDurationMs, organisations },
      terminal,
      (context) => sync(context, selection),
    )
    await resumeSender(config, flags, terminal)
    return exitCode
  },
}
