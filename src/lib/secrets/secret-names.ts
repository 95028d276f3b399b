/** Words for secrets, alone or at the end of a longer word (`apikey`, `accesstoken`). */
const SECRET_WORD =
  /^(?:keys?|auth|authorization|bearer|creds?|dsn|jwt|otp|pass|passcodes?|passphrases?|pin|pwd|sas|sig|signature)$|(?:api|access|account|auth|client|encryption|master|private|secret|signing|ssh)keys?$|(?:cookie|credential|passwd|password|secret|signature|token)s?$/

/** Words that show that a number under such a name is a count or a limit: `maxTokens`, `tokenTtlSeconds`. */
const COUNTED =
  /^(?:tokens|budget|count|days|expires|expiry|length|limit|max|min|ms|minutes|per|rate|seconds|size|total|ttl|usage)$/

/** True for names whose value is a secret, whatever its form. */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name)
  return words.some(
    (word, index) => SECRET_WORD.test(word) && !(word === 'token' && words[index + 1] === 'usage'),
  )
}

/** True for names whose number is a secret, unlike that of `inputTokens`. */
export function isSecretNumberName(name: string): boolean {
  return isSecretName(name) && !wordsOf(name).some((word) => COUNTED.test(word))
}

/** True for names of identifiers, which look random without being secret. */
export function isIdName(name: string): boolean {
  return /^(?:at|branch|commit|hash|ids?|sha|status|timestamp|uuid|version)$/.test(
    wordsOf(name).at(-1) ?? '',
  )
}

/** `relayAPIKey_2` is relay, api, key. Linear in the name, which may be as long as an item. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/(?<=[A-Z])(?=[A-Z][a-z])/g, ' ')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase().replace(/(?<!\d)\d+$/, ''))
    .filter((word) => word !== '')
}

/** Returns the replacement of a secret. */
export type Mark = (secret: string) => string

/** True if letters and digits alternate, if there are digits and both cases, or if the word is very long. */
export function isRandom(word: string): boolean {
  if (DIGEST.test(word)) return false
  if (word.length >= 40) return true
  const isOfAll = /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word)
  return isOfAll || turnsOf(word) >= 3
}

/** True for Base64 with `/`, which alternates more often than a path. */
export function isMixed(run: string): boolean {
  return run.length >= 36 && /[+/]/.test(run) && turnsOf(run) + humpsOf(run) >= 8
}

/** True for a public SSH key, which begins with the length and the name of its kind. */
export function isPublic(run: string): boolean {
  return /^AAAA(?:[A-Z]3NzaC1|E2VjZHNhLX|GnNr|Ips|InNr)/.test(run)
}

/** The id of a commit, or the digest of a file or an image. */
const DIGEST = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** How often a letter and a digit follow each other. */
function turnsOf(text: string): number {
  return text.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0
}

/** How often a capital follows a small letter. */
function humpsOf(text: string): number {
  return text.match(/[a-z](?=[A-Z])/g)?.length ?? 0
}
