import { loadConfig } from '../../src/config/config.ts'
import { AppError } from '../../src/lib/errors.ts'
import type { World } from '../../src/lib/world.ts'
import type { RunContext } from '../../src/pipeline/run-context.ts'
import { run } from '../../src/pipeline/run.ts'
import { sync } from '../../src/pipeline/sync.ts'

export interface Night {
  readonly exitCode: number
  /** Its messages. */
  readonly problems: readonly string[]
}

export interface NightOptions {
  readonly url: string
  readonly key: string
  readonly dataFolder: string
  /** The timeout of a request: short where a test has a body that never ends. */
  readonly patienceMs: number
}

/** Entity resources have tests of their own. */
const ANALYTICS = { entities: { resources: [] } }

/** A night in this process, `run` or only its first half, `sync`, in the world of a test. */
export async function night(
  command: 'run' | 'sync',
  world: World,
  options: NightOptions,
): Promise<Night> {
  const { dataFolder, patienceMs: timeoutMs } = options
  const environment = { AGENT_BASE_URL: options.url, AGENT_API_KEY: options.key }
  const context: RunContext = {
    config: loadConfig({ data: dataFolder, rate: 2000, concurrency: 4 }, environment, dataFolder),
    world: { ...world, fetch: (request) => world.fetch({ ...request, timeoutMs }) },
    runId: `run-${world.now()}`,
    deadline: world.now() + 3_600_000,
  }
  try {
    const outcome =
      command === 'sync'
        ? sync(context, ANALYTICS)
        : run(context, ANALYTICS, () => Promise.resolve([]))
    const { exitCode, problems } = await outcome
    return { exitCode, problems: problems.map(({ message }) => message) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { exitCode: error.exitCode, problems: [error.message] }
  }
}
