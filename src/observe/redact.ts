import type { RunEvent } from '../lib/events.ts'
import { KnownSecrets, REDACTED } from '../lib/secrets/known-secrets.ts'
import { withoutKnownForms } from '../lib/secrets/secret-forms.ts'

/** Removes secrets from a text. */
export type Redact = (text: string) => string

/** Removes the given credentials in any spelling, and everything with the form of a key or a token. */
export function createRedact(secrets: readonly string[]): Redact {
  const known = new KnownSecrets(secrets)
  return (text) => withoutKnownForms(known.text(text), () => REDACTED)
}

/** The event without secrets in any of its texts. */
export function redactedEvent(event: RunEvent, redact: Redact): RunEvent {
  const clean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(clean)
    return typeof value === 'string' ? redact(value) : value
  }
  const members = Object.entries(event).map(([name, value]) => [name, clean(value)] as const)
  return Object.assign({ ...event }, Object.fromEntries(members), { type: event.type })
}
