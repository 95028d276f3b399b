import { ANALYTICS } from './analytics.ts'
import { ORGANISATION } from './organisation.ts'
import { RESOURCES } from './resources.ts'
import type { Section } from './section.ts'

/** Every field of the specification. */
export const SECTIONS: readonly Section[] = [...ORGANISATION, ...ANALYTICS, ...RESOURCES]
