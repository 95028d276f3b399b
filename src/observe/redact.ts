import { KnownSecrets, REDACTED } from '../lib/secrets/known-secrets.ts'
import { withoutKnownForms } from '../lib/secrets/secret-forms.ts'

/** Takes secrets out of a text. */
export type Redact = (text: string) => string

/**
 * Takes out the credentials given, however they are spelled, and besides whatever
 * has the known form of a key or a token.
 */
export function createRedact(secrets: readonly string[]): Redact {
  const known = new KnownSecrets(secrets)
  return (text) => withoutKnownForms(known.text(text), () => REDACTED)
}
