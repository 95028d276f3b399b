import { ApiError, ApiClient, RefusedError } from '../client/index.ts'
import type { OrganisationConfig } from '../config/config.ts'
import { DeferredError, ExitCode, messageOf } from '../lib/errors.ts'
import type { World } from '../lib/world.ts'
import {
  isWrongAddress,
  organisationMismatch,
  OrganisationError,
  identifyOrganisation,
  skewText,
  TOLERATED_SKEW_MS,
  wrongAddress,
  type Identity,
  ClockError,
} from '../extract/identity.ts'
import {
  isSame,
  ofNames,
  readOrganisations,
  type KnownOrganisation,
} from '../lake/organisations.ts'
import { RESOURCES } from '../lake/resources.ts'
import { failure, ok, warning, wrong, type Finding } from './finding.ts'
import { addDays, HISTORY_START, type Day } from '../lib/days.ts'

/** The longest wait for one response, and for all checks of an organisation. */
const RESPONSE_MS = 30_000
const CHECKS_MS = 5 * 60_000

/**
 * Checks address, credential and clock of one organisation by one small request, then what the
 * credential may read. `names`: of all configured organisations.
 */
export async function checkPlatform(
  organisation: OrganisationConfig,
  names: readonly string[],
  dataFolder: string,
  world: World,
): Promise<Finding[]> {
  const { problem } = organisation
  if (problem !== null) return [failure('configuration', problem, problem.exitCode)]
  const client = new ApiClient(
    {
      baseUrl: organisation.baseUrl,
      appUrl: organisation.appUrl ?? undefined,
      credential: organisation.key,
      rate: 5,
      concurrency: 1,
      deadline: world.now() + CHECKS_MS,
      timeoutMs: RESPONSE_MS,
    },
    world,
  )
  let known: KnownOrganisation | undefined
  try {
    known = ofNames(await readOrganisations(dataFolder), names).get(organisation.name)
  } catch (error) {
    return [failure('organisation', error, ExitCode.usage)]
  }
  try {
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

function answered({ baseUrl, name, keySource }: OrganisationConfig): [Finding, Finding] {
  return [
    ok('address', `${baseUrl} answers`),
    ok('credential', `the key of '${name}' (${keySource}) is accepted`),
  ]
}

function refused(organisation: OrganisationConfig, error: unknown): Finding[] {
  const [address, credential] = answered(organisation)
  if (error instanceof RefusedError) {
    return error.status === 403
      ? [address, credential, failure('role', error, error.exitCode)]
      : [address, failure('credential', error, error.exitCode)]
  }
  if (error instanceof ClockError || error instanceof OrganisationError) {
    const check = error instanceof ClockError ? 'clock' : 'organisation'
    return [address, credential, failure(check, error, error.exitCode)]
  }
  if (isWrongAddress(error)) return [failure('address', wrongAddress(error), ExitCode.usage)]
  if (error instanceof DeferredError) {
    const hint = 'Try again later: nothing else can be checked now.'
    return [warning('address', messageOf(error), hint)]
  }
  const what = error instanceof ApiError ? 'answered with an error' : 'cannot be reached'
  const message = `${organisation.baseUrl} ${what}: ${messageOf(error)}`
  const hint =
    'Check AGENT_BASE_URL, the network and the proxy. If they are correct, wait: the next run tries again.'
  return [wrong('address', ExitCode.partial, message, hint)]
}

/** The credential of another organisation would mix two histories. */
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
  const hint = 'Synchronise it with a time server. Runs use the platform’s clock.'
  return warning('clock', message, hint)
}

async function probe(
  requests: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<[string, unknown][]> {
  const results: [string, unknown][] = []
  for (const [name, request] of Object.entries(requests)) {
    const result = request().then(() => null)
    results.push([name, await result.catch((error: unknown) => error)])
  }
  return results
}

function namesOf(results: readonly [string, unknown][]): string {
  return results.map(([name]) => name).join(', ')
}

async function checkEndpoints(client: ApiClient, name: string, today: Day): Promise<Finding[]> {
  const yesterday = addDays(today, -1)
  const day = yesterday < HISTORY_START ? HISTORY_START : yesterday
  const range = { first: day, last: day }
  const requests = RESOURCES.map(({ endpoint, grain }) => {
    const query = grain === 'users' ? { range, limit: 1 } : { range }
    return [endpoint, () => client.ask(endpoint, query)] as const
  })
  const results = await probe(Object.fromEntries(requests))
  const refused = results.filter(([, error]) => error instanceof RefusedError)
  const others = results.filter((each) => each[1] !== null && !refused.includes(each))
  const later =
    'The next run tries again. Run doctor again later to see whether the credential may read it.'
  return [
    roleOf(name, results, refused),
    ...others.map(([endpoint, error]) =>
      warning('role', `${endpoint} cannot be read: ${messageOf(error)}`, later),
    ),
  ]
}

function roleOf(
  name: string,
  results: readonly [string, unknown][],
  refused: readonly [string, unknown][],
): Finding {
  const credential = `the credential of '${name}'`
  const [first] = refused
  if (first === undefined) return ok('role', `${credential} may read the analytics`)
  const allowed = namesOf(results.filter(([, error]) => error === null))
  const but = allowed === '' ? '' : `, but may read ${allowed}`
  const message = `${credential} may not read ${namesOf(refused)}${but}: ${messageOf(first[1])}`
  const hint =
    'The key of a Manager or Owner may read all of them. A run loads what is allowed, and exits with 5.'
  return wrong('role', ExitCode.credential, message, hint)
}

/**
 * Checks which entity resources the credential may read, by one small request each. Sessions and
 * messages cannot be requested without an id, nor samples without a computer.
 */
async function checkResources(
  client: ApiClient,
  { name, appUrl }: OrganisationConfig,
): Promise<Finding[]> {
  const reports = { readiness_reports: () => client.readiness.fetchPage({ limit: 1 }) }
  const results = await probe({
    enterprise_controls: () => client.controls.fetchPage({ limit: 1 }),
    usage_limits: () => client.limits.fetch(),
    computers: () => client.computers.fetchAll(),
    ...(appUrl === null ? {} : reports),
  })
  const readable = namesOf(results.filter(([, error]) => error === null))
  const unreadable = results.filter(([, error]) => error !== null)
  const noReports = `no web application host is set for '${name}', so no readiness reports are loaded`
  const some = ok('resources', `the credential of '${name}' may read ${readable}`)
  return [
    ...(readable === '' ? [] : [some]),
    ...unreadable.map(([resource, error]) =>
      warning(
        'resources',
        `${resource} cannot be read: ${messageOf(error)}`,
        error instanceof RefusedError
          ? 'If your role or plan does not include it, you can ignore this: runs leave it out.'
          : 'The next run tries again, and leaves it out if it is not available.',
      ),
    ),
    ...(appUrl === null ? [ok('readiness', noReports)] : []),
  ]
}
