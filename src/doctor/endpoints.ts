import { RefusedError, type PlatformClient } from '../client/index.ts'
import { addDays, HISTORY_START, type Day } from '../lib/days.ts'
import { ExitCode, messageOf } from '../lib/errors.ts'
import { ok, warning, wrong, type Finding } from './finding.ts'

const ENDPOINTS = ['activity', 'tokens', 'tools', 'productivity', 'users'] as const

/** Which analytics endpoints the credential may read, by one small request each. */
export async function checkEndpoints(
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
