/**
 * The entity resources: what is not analytics (CONTRACT, "Resource names"). Each is
 * asked for every night as it is then: a day is the one on which it was fetched.
 */
export const ENTITY_RESOURCES = [
  'hook_events',
  'enterprise_controls',
  'usage_limits',
  'readiness_reports',
  'computers',
  'computer_metrics',
  'sessions',
  'messages',
] as const

export type EntityResource = (typeof ENTITY_RESOURCES)[number]

export function isEntityResource(resource: string): resource is EntityResource {
  return ENTITY_RESOURCES.some((name) => name === resource)
}

/** True for what a day holds whole: a night that was missed cannot be made up for. */
export function isSnapshot(resource: string): boolean {
  return resource === 'usage_limits' || resource === 'computers'
}
