import type { Config } from '../config/config.ts'
import { ExitCode, PartialError } from '../lib/errors.ts'
import { warner, type World } from '../lib/world.ts'
import { join } from 'node:path'
import { packageRoot } from '../lib/package.ts'
import { loadProject } from '../model/project/project.ts'
import type { Project } from '../model/project/types.ts'
import { openLedger } from '../extract/open-ledger.ts'
import { organisationsInLake } from '../lake/layout.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import type { PointInTime } from '../lake/point-in-time.ts'

/** One invocation of the pipeline: what it works on, and with what. */
export interface RunContext {
  readonly config: Config
  readonly world: World
  readonly runId: string
  /** When the run must be over, milliseconds since the epoch. */
  readonly deadline: number
}

/** Result of a stage that needs no network. */
export interface StageResult {
  readonly exitCode: ExitCode
  readonly problems: readonly Error[]
}

/** Downgrades a complete outcome to partial if the work found missing files. */
export function downgradeToPartial<T extends StageResult>(missing: number, outcome: T): T {
  if (missing === 0 || outcome.exitCode !== ExitCode.complete) return outcome
  const files = missing === 1 ? 'a file of the lake was' : `${missing} files of the lake were`
  const problem = new PartialError(`${files} damaged or gone`, {
    hint: 'The next run requests the missing days; earlier versions can only be restored from a backup. Damaged files are in quarantine/.',
  })
  return { ...outcome, exitCode: ExitCode.partial, problems: [...outcome.problems, problem] }
}

/** Runs `work` and reports how long it took. */
export async function timed<T>(
  { world }: RunContext,
  stage: string,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = world.now()
  try {
    return await work()
  } finally {
    world.emit({ type: 'stage.finished', stage, durationMs: world.now() - startedAt })
  }
}

/**
 * Reads the models, with the user's own seeds if there are any. The caller may await other work
 * first: an error is thrown where the result is awaited.
 */
export function readProject(context: RunContext): Promise<Project> {
  const reading = projectOf(context.config, warner(context.world))
  reading.catch(() => undefined)
  return reading
}

/** The same without a run: an error is not held back. */
export function projectOf(config: Config, warn: (message: string) => void): Promise<Project> {
  return loadProject(join(packageRoot, 'dbt-like-models'), {
    seedFolder: join(config.dataFolder, 'seeds'),
    notSeeds: ['sessions', 'messages'],
    warn,
  })
}

/**
 * Compares each ledger, also of organisations that have none yet, with the lake. `except`:
 * organisations whose ledgers this run has opened already. Returns how many versions were damaged
 * or gone.
 */
export async function reconcileLedgers(
  context: RunContext,
  except: readonly (string | null)[] = [],
): Promise<number> {
  const { dataFolder } = context.config
  let count = 0
  const all = union(await organisationsInLake(dataFolder), await knownOrganisations(dataFolder))
  for (const orgId of all) {
    if (except.includes(orgId)) continue
    const { damaged, missing, lost } = await openLedger(dataFolder, orgId, warner(context.world))
    count += damaged + missing.length + lost
  }
  return count
}

/** Whether any day has landed, with rows or without: base and models are made of nothing else. */
export async function hasLanded(
  { ledgerOf }: PointInTime,
  orgIds: readonly string[],
): Promise<boolean> {
  for (const orgId of orgIds) {
    const ledger = await ledgerOf(orgId)
    if ([...ledger.values()].some(({ file }) => file !== null)) return true
  }
  return false
}

export function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].sort()
}
