import { damageOfVersion } from '../extract/land/verify-versions.ts'
import { ChecksFailedError, ExitCode, PartialError } from '../lib/errors.ts'
import { createFactViews } from '../model/engines/fact-views.ts'
import { timed, type StageResult, type RunContext, readProject } from './run-context.ts'
import type { SyncOutcome } from './outcome.ts'
import { sync } from './sync.ts'
import { openScratch, removeScratch, withoutLanding } from '../serve/verify/scratch.ts'
import {
  chooseSample,
  isEqual,
  verifyWarehouse,
  type SampleChoice,
  type Verification,
} from '../serve/verify/verify.ts'
import { refusePast } from '../serve/rollback.ts'

interface VerifyOutcome extends StageResult {
  /** Null when the platform could not be asked. */
  readonly verification: Verification | null
}

/**
 * Fetches days again into a temporary folder, and compares the published warehouse with what
 * they make; of all organisations or those that are named. Lake, ledger and warehouse stay as they are.
 *
 * @throws UsageError when nothing is published, or the warehouse as it was known earlier.
 */
export async function verify(context: RunContext, choice: SampleChoice): Promise<VerifyOutcome> {
  const { config, world } = context
  const { dataFolder } = config
  await refusePast(dataFolder, 'verify')
  const sample = await chooseSample(dataFolder, choice, world)
  try {
    const scratch = await openScratch(dataFolder)
    const quiet = { ...world, emit: withoutLanding(world.emit) }
    const temporary = { ...context, config: { ...config, dataFolder: scratch }, world: quiet }
    const days = new Set(sample.days)
    const { organisations } = choice
    const fetched = await sync(temporary, { days, organisations })
    const isAnswered =
      fetched.exitCode === ExitCode.complete || fetched.results.some(({ landed }) => landed > 0)
    if (!isAnswered || world.signal.aborted) return { ...fetched, verification: null }
    const project = await readProject(context)
    const verification = await timed(context, 'compare', () =>
      verifyWarehouse({
        dataFolder,
        scratch,
        sample,
        damageOf: (orgId, version, sha256) => damageOfVersion(dataFolder, orgId, version, sha256),
        signal: world.signal,
        makeFacts: (database, source) => createFactViews(database, project, source),
      }),
    )
    return verifiedOutcome(fetched, verification)
  } finally {
    await removeScratch(dataFolder)
  }
}

function verifiedOutcome(fetched: SyncOutcome, verification: Verification): VerifyOutcome {
  const { exitCode, problems } = fetched
  if (verification.days.length === 0 && exitCode === ExitCode.complete) {
    const nothing = new PartialError('the warehouse does not contain any of the fetched days')
    return { exitCode: nothing.exitCode, problems: [nothing], verification }
  }
  if (isEqual(verification)) return { exitCode, problems, verification }
  const differs = new ChecksFailedError('the warehouse differs from what the platform serves')
  return { exitCode: differs.exitCode, problems: [differs, ...problems], verification }
}
