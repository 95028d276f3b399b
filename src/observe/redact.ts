import { withoutKnownForms } from '../core/secret-forms.ts'

/** Takes secrets out of a text. */
export type Redact = (text: string) => string

const REDACTED = '[redacted]'

/** A shorter text is no credential, and taking it out would spoil ordinary words. */
const MIN_SECRET_LENGTH = 4

/**
 * Takes out the credentials given, as they are and percent-encoded, and
 * besides whatever has the known form of a key or a token.
 */
export function createRedact(secrets: readonly string[]): Redact {
  const spellings = secrets
    .map((secret) => secret.trim())
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .sort((a, b) => b.length - a.length)
  return (text) =>
    withoutKnownForms(
      spellings.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text),
      () => REDACTED,
    )
}
