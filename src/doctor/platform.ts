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
import { failure, ok, warning, wrong, type Finding } from './finding.ts'
import { addDays, HISTORY_START, type Day } from '../lib/days.ts'

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

const ENDPOINTS = ['activity', 'tokens', 'tools', 'productivity', 'users'] as const

/** Which analytics endpoints the credential may read, by one small request each. */
async function checkEndpoints(
  client: PlatformClient,
  name: string,
  today: Day,
): Promise<Finding[]> {
  const yesterday = addDays(today, -1)
  const day = yesterday < HISTORY_START ? HISTORY_START : yesterday
  const forbidden = new Map<string, RefusedError>()
  const others: Finding[] = []
  for (const endpoint of ENDPOINTS) {
    try {
      const limit = endpoint === 'users' ? { limit: 1 } : {}
      await client.ask(endpoint, { range: { first: day, last: day }, ...limit })
    } catch (error) {
      if (error instanceof RefusedError) forbidden.set(endpoint, error)
      else others.push(warning('role', `${endpoint} cannot be read: ${messageOf(error)}`, LATER))
    }
  }
  return [roleOf(name, forbidden), ...others]
}

const LATER = 'Runs ask again; ask again later whether the credential may read it.'

function roleOf(name: string, forbidden: ReadonlyMap<string, RefusedError>): Finding {
  const [first] = forbidden.values()
  const credential = `the credential of '${name}'`
  if (first === undefined) return ok('role', `${credential} may read the analytics`)
  const refused = [...forbidden.keys()].join(', ')
  const allowed = ENDPOINTS.filter((endpoint) => !forbidden.has(endpoint)).join(', ')
  return wrong(
    'role',
    ExitCode.credential,
    `${credential} may not read ${refused}${allowed === '' ? '' : `, but may read ${allowed}`}: ${messageOf(first)}`,
    'A Manager or Owner may read all of them. A run lands what is allowed, and ends with 5.',
  )
}

/**
 * What the credential may read beside analytics, by one small request each.
 * Sessions and messages cannot be told of without an id; samples are of computers.
 */
async function checkResources(
  client: PlatformClient,
  { name, appUrl }: OrganisationConfig,
): Promise<Finding[]> {
  const probes: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['enterprise_controls', () => client.controls.fetchPage({ limit: 1 })],
    ['usage_limits', () => client.limits.fetch()],
    ['computers', () => client.computers.fetchAll()],
    ...(appUrl === null
      ? []
      : [['readiness_reports', () => client.readiness.fetchPage({ limit: 1 })] as const]),
  ]
  const readable: string[] = []
  const findings: Finding[] = []
  for (const [resource, probe] of probes) {
    try {
      await probe()
      readable.push(resource)
    } catch (error) {
      findings.push(unreadable(resource, error))
    }
  }
  return [
    ...(readable.length === 0
      ? []
      : [ok('resources', `the credential of '${name}' may read ${readable.join(', ')}`)]),
    ...findings,
    ...(appUrl === null
      ? [ok('readiness', `no application host of '${name}' is set: no reports are asked for`)]
      : []),
  ]
}

function unreadable(resource: string, error: unknown): Finding {
  const hint =
    error instanceof RefusedError
      ? 'Where the role or the plan does not include it, nothing is to be done: runs pass over it.'
      : 'Runs ask again, and pass over what is not to be had.'
  return warning('resources', `${resource} cannot be read: ${messageOf(error)}`, hint)
}
