import type { Config } from '../config/config.ts'
import { hookFolders, isSenderAtWork, startSender } from '../hooks/record.ts'
import { missingVariables } from '../notify/channel.ts'
import { listIfThere } from '../lib/files.ts'
import type { RunsSoFar } from '../pipeline/build.ts'
import type { RunContext } from '../pipeline/run-context.ts'
import { run } from '../pipeline/run.ts'
import { sync, type SyncSelection } from '../pipeline/sync.ts'
import { dataCommand, reportOptions, type Examples, type Terminal } from './command.ts'
import { configPath, MAIN } from './hooks/run.ts'
import { runJob, type JobResult } from './job.ts'
import { durationOf, paceOptions, selectionOf, selectionOptions } from './options.ts'

export const runCommand = nightly(
  'run',
  {
    '$0 run': 'load the whole history the first time, then what is missing or due',
    '$0 run --data ./warehouse --log json': 'run from cron, with a log as JSON lines',
  },
  run,
)

export const syncCommand = nightly(
  'sync',
  {
    '$0 sync': 'load what is missing, up to yesterday',
    '$0 sync --from 2026-02-01 --to 2026-02-28 --refetch': 'load a month again',
    '$0 sync --only users --max-duration 20m': 'load only users, for at most 20 minutes',
    '$0 sync --org acme,beta': 'load two of many organisations',
  },
  sync,
)

function nightly(
  command: string,
  examples: Examples,
  work: (context: RunContext, selection: SyncSelection, runs: RunsSoFar) => Promise<JobResult>,
) {
  return dataCommand({
    examples,
    options: { ...selectionOptions, ...paceOptions, ...reportOptions },
    run: (flags, terminal) => {
      const maxDurationMs = durationOf(flags.maxDuration, '--max-duration')
      const selectionIn = selectionOf(flags)
      return async (config) => {
        const selection = selectionIn(config)
        const organisations = config.organisations(selection.organisations)
        const job = { ...flags, command, config, maxDurationMs, organisations }
        const exitCode = await runJob(job, terminal, (context, runs) =>
          work(context, selection, runs),
        )
        await resumeSender(config, configPath(flags.config, terminal.cwd), terminal)
        return exitCode
      }
    },
  })
}

/**
 * Starts a sender if notifications wait: a nightly run delivers what no event has triggered. Does
 * not start one if the environment lacks a secret that a channel needs: it would give up what
 * the agent's own environment can deliver. Reports nothing and never fails, because delivery is
 * not the purpose of the run.
 */
async function resumeSender(
  { dataFolder, hooks }: Config,
  config: string,
  { environment }: Terminal,
): Promise<void> {
  try {
    if (hooks.rules.length === 0 || missingVariables(hooks, environment).length > 0) return
    const folders = hookFolders(dataFolder)
    const waiting = [...(await listIfThere(folders.inbox)), ...(await listIfThere(folders.outbox))]
    // the system's clock, because it is compared with the time of a file
    if (waiting.length === 0 || isSenderAtWork(folders, Date.now())) return
    await startSender({ script: MAIN, dataFolder, config, environment: { ...environment } })
  } catch {
    // The next event, or `hooks flush`, starts one.
  }
}
