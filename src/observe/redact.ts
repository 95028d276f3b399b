/** Takes secrets out of a text. */
export type Redact = (text: string) => string

const REDACTED = '[redacted]'

/** A shorter text is no credential, and taking it out would spoil ordinary words. */
const MIN_SECRET_LENGTH = 4

/** A digit tells a token from a word, as in `bearer credential`. */
const BEARER = /\b(bearer)\s+(?=\S*\d)[\w.~+/=-]{8,}/gi
const JWT = /\beyJ[\w-]+\.[\w-]+(\.[\w-]*)?/g

/**
 * Takes out the credentials given, as they are and percent-encoded, and
 * besides whatever has the form of a JWT or of a token after `Bearer`.
 */
export function createRedact(secrets: readonly string[]): Redact {
  const spellings = secrets
    .map((secret) => secret.trim())
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .sort((a, b) => b.length - a.length)
  return (text) =>
    spellings
      .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
      .replaceAll(JWT, REDACTED)
      .replaceAll(BEARER, `$1 ${REDACTED}`)
}
