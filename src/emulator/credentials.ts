/** Roles of an organisation's people; analytics answer owners and managers only. */
export type Role = 'owner' | 'manager' | 'member' | 'guest'

export type Keys = Readonly<Record<Role, string>>

/** The fixed keys of the stand-in platform. They open nothing else. */
export const DEFAULT_KEYS: Keys = {
  owner: 'demo-owner-key',
  manager: 'demo-manager-key',
  member: 'demo-member-key',
  guest: 'demo-guest-key',
}

const ROLES: readonly Role[] = ['owner', 'manager', 'member', 'guest']

/** The role behind `Authorization: Bearer <key>`; null for a missing or unknown credential. */
export function roleOf(authorization: string | undefined): Role | null {
  const key = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  return ROLES.find((role) => DEFAULT_KEYS[role] === key) ?? null
}

/** Whether a role may read analytics (Authentication, rule 3 of the API). */
export function mayReadAnalytics(role: Role): boolean {
  return role === 'owner' || role === 'manager'
}

/** Whether a role may set the limits of credits; the API leaves it open. */
export function maySetLimits(role: Role): boolean {
  return role === 'owner' || role === 'manager'
}
