import { ApiError, PlatformClient, RefusedError } from '../client/index.ts'
import type { OrganisationConfig } from '../config/config.ts'
import { DeferredError, ExitCode, messageOf } from '../lib/errors.ts'
import type { World } from '../lib/world.ts'
import { ClockError } from '../extract/plan/platform-clock.ts'
import {
  isWrongAddress,
  organisationMismatch,
  OrganisationError,
  identifyOrganisation,
  skewText,
  TOLERATED_SKEW_MS,
  wrongAddress,
  type Identity,
} from '../extract/identity.ts'
import { isSame, readOrganisations, type KnownOrganisation } from '../lake/organisations.ts'
import { checkEndpoints } from './endpoints.ts'
import { failure, ok, warning, wrong, type Finding } from './finding.ts'
import { checkResources } from './resources.ts'

/** Longer than this a person at a terminal does not wait for one answer. */
const PATIENCE_MS = 30_000

/** Address, credential and clock of one organisation, by one small request; then what it may read. */
export async function checkPlatform(
  organisation: OrganisationConfig,
  dataFolder: string,
  world: World,
): Promise<Finding[]> {
  const client = new PlatformClient(
    {
      baseUrl: organisation.baseUrl,
      ...(organisation.appUrl === null ? {} : { appUrl: organisation.appUrl }),
      credential: organisation.key,
      rate: 5,
      concurrency: 1,
      deadline: world.now() + PATIENCE_MS,
      timeoutMs: PATIENCE_MS,
    },
    world,
  )
  try {
    const known = (await readOrganisations(dataFolder)).get(organisation.name)
    const identity = await identifyOrganisation(client, world, known)
    return [
      ...answered(organisation),
      ...(await checkEndpoints(client, organisation.name, identity.today)),
      whose(organisation, identity, known),
      clock(identity),
      ...(await checkResources(client, organisation)),
    ]
  } catch (error) {
    return refused(organisation, error)
  }
}

function answered({ baseUrl, name, keySource }: OrganisationConfig): Finding[] {
  return [
    ok('address', `${baseUrl} answers`),
    ok('credential', `the key of '${name}' (${keySource}) is accepted`),
  ]
}

function refused(organisation: OrganisationConfig, error: unknown): Finding[] {
  const { baseUrl } = organisation
  if (error instanceof RefusedError) {
    const [address, credential] = answered(organisation)
    const known = error.status === 403 ? [address, credential] : [address]
    const check = error.status === 403 ? 'role' : 'credential'
    return [...known.filter((each) => each !== undefined), failure(check, error, error.exitCode)]
  }
  if (error instanceof ClockError) {
    return [...answered(organisation), failure('clock', error, error.exitCode)]
  }
  if (error instanceof OrganisationError) {
    return [...answered(organisation), failure('organisation', error, error.exitCode)]
  }
  if (isWrongAddress(error)) return [failure('address', wrongAddress(error), ExitCode.usage)]
  if (error instanceof DeferredError) {
    return [warning('address', messageOf(error), 'Ask again later: nothing else can be told now.')]
  }
  const what = error instanceof ApiError ? 'is not well' : 'cannot be reached'
  return [
    wrong(
      'address',
      ExitCode.partial,
      `${baseUrl} ${what}: ${messageOf(error)}`,
      'Look at AGENT_BASE_URL, the network and the proxy; if they are right, wait: a run asks again.',
    ),
  ]
}

/** Another organisation's credential would make one history of both. */
function whose(
  { name }: OrganisationConfig,
  { orgId }: Identity,
  known: KnownOrganisation | undefined,
): Finding {
  if (orgId === null) return warning('organisation', `the platform does not name '${name}'`)
  if (known === undefined || isSame(known, orgId))
    return ok('organisation', `'${name}' is ${orgId}`)
  return failure('organisation', organisationMismatch(name, orgId, known.orgId), ExitCode.usage)
}

function clock(identity: Identity): Finding {
  const { skewMs, today } = identity
  const difference = skewMs === 0 ? 'the same as' : skewText(identity)
  const message = `${difference} the platform's, where it is ${today}`
  if (Math.abs(skewMs) < TOLERATED_SKEW_MS) return ok('clock', message)
  return warning('clock', message, 'Set it by a time server. Runs go by the platform’s clock.')
}
