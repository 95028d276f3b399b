/** Words that a secret goes by, alone or at the end of a longer word (`apikey`, `accesstoken`). */
const SECRET_WORD =
  /^(?:keys?|auth|authorization|bearer|creds?|dsn|jwt|otp|pass|passcodes?|passphrases?|pin|pwd|sas|sig|signature)$|(?:api|access|account|auth|client|encryption|master|private|secret|signing|ssh)keys?$|(?:cookie|credential|passwd|password|secret|signature|token)s?$/

/** Words that make a number under such a name a count or a bound: `maxTokens`, `tokenTtlSeconds`. */
const COUNTED =
  /^(?:tokens|budget|count|days|expires|expiry|length|limit|max|min|ms|minutes|per|rate|seconds|size|total|ttl|usage)$/

/** A value under such a name is a secret, whatever its form. */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name)
  return words.some(
    (word, index) => SECRET_WORD.test(word) && !(word === 'token' && words[index + 1] === 'usage'),
  )
}

/** The same of a number, which a name like `inputTokens` does not make a secret. */
export function isSecretNumberName(name: string): boolean {
  return isSecretName(name) && !wordsOf(name).some((word) => COUNTED.test(word))
}

/** True for names of identifiers, which look random without being secret. */
export function isIdName(name: string): boolean {
  return /^(?:at|branch|commit|hash|ids?|sha|status|timestamp|uuid|version)$/.test(
    wordsOf(name).at(-1) ?? '',
  )
}

/** `relayAPIKey_2` is relay, api, key. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase().replace(/\d+$/, ''))
    .filter((word) => word !== '')
}
