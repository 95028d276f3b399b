import { ExitCode } from '../lib/errors.ts'
import type { StageResult, RunContext } from './run-context.ts'
import { rollBack } from '../serve/rollback.ts'

/** Publishes a file that was published before: the one of the run `to`, or the one before. */
export async function rollback(context: RunContext, to: string | undefined): Promise<StageResult> {
  const { config, world, runId } = context
  const options = { dataFolder: config.dataFolder, runId, now: world.now, to }
  const done = await rollBack(options)
  world.emit({ type: 'warehouse.rolled_back', from: done.from, to: done.to })
  const message = 'the next build returns to the latest data; exports are unchanged'
  world.emit({ type: 'warning', message })
  return { exitCode: ExitCode.complete, problems: [] }
}
