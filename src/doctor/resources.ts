import { RefusedError, type PlatformClient } from '../client/index.ts'
import type { OrganisationConfig } from '../config/config.ts'
import { messageOf } from '../lib/errors.ts'
import { ok, warning, type Finding } from './finding.ts'

/**
 * What the credential may read beside analytics, by one small request each.
 * Sessions and messages cannot be told of without an id; samples are of computers.
 */
export async function checkResources(
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
