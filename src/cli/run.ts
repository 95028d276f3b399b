import type { SyncSelection } from '../pipeline/entity-resources.ts'
import { run } from '../pipeline/run.ts'
import { sync } from '../pipeline/sync.ts'
import type { RunContext } from '../pipeline/run-context.ts'
import { configured, dataOptions, defineCommand, jsonOption, logOption } from './command.ts'
import { resumeSender } from './hooks/install.ts'
import { runJob, type JobResult } from './job.ts'
import type { Observer } from './observer.ts'
import { durationOf, paceOptions, selectionOf, selectionOptions } from './options.ts'

export const runCommand = nightly(
  'run',
  [
    ['$0 run', 'the whole history the first time, then what is missing or due'],
    ['$0 run --data ./warehouse --log json', 'from cron, with a log for machines'],
  ],
  (context, selection, { runs }) => run(context, selection, runs),
)

export const syncCommand = nightly(
  'sync',
  [
    ['$0 sync', 'land what is missing, up to yesterday'],
    ['$0 sync --from 2026-02-01 --to 2026-02-28 --refetch', 'a month once more'],
    ['$0 sync --only users --max-duration 20m', 'users alone, for 20 minutes at most'],
  ],
  sync,
)

/** A command that asks the platform for what its selection says. */
function nightly(
  command: string,
  examples: readonly [string, string][],
  work: (context: RunContext, selection: SyncSelection, observer: Observer) => Promise<JobResult>,
) {
  return defineCommand({
    examples,
    options: { ...dataOptions, ...selectionOptions, ...paceOptions, ...logOption, ...jsonOption },
    run: async (flags, terminal) => {
      const selection = selectionOf(flags)
      const maxDurationMs = durationOf(flags.maxDuration, '--max-duration')
      const config = configured(flags, terminal)
      const organisations = config.organisations()
      const exitCode = await runJob(
        { ...flags, command, config, maxDurationMs, organisations },
        terminal,
        (context, observer) => work(context, selection, observer),
      )
      await resumeSender(config, flags, terminal)
      return exitCode
    },
  })
}
