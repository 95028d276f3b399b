import { isSecretName, isSecretNumberName } from './secret-names.ts'

/** What stands in the place of a secret. */
export type Mark = (secret: string) => string

/**
 * The text without what has the form of a secret, however little is known of
 * where it comes from: keys and tokens by their beginnings, JWTs, private keys,
 * and what follows `Bearer` or a user's name in an address.
 */
export function withoutKnownForms(text: string, mark: Mark): string {
  const once = marker(mark)
  return text
    .replaceAll(PRIVATE_KEY, once)
    .replaceAll(JWT, once)
    .replaceAll(BEARER, (_, before: string, secret: string) => before + once(secret))
    .replaceAll(USER_INFO, (_, before: string, secret: string) => before + once(secret))
    .replaceAll(BEGINNINGS, once)
}

/** The same, and without the values in the queries of addresses. */
export function withoutAddressed(text: string, mark: Mark): string {
  return withoutQueries(withoutKnownForms(text, mark), marker(mark))
}

function withoutQueries(text: string, mark: Mark): string {
  return text.replaceAll(ADDRESS, (address) =>
    address.replaceAll(QUERY, (_, before: string, secret: string) => before + mark(secret)),
  )
}

/**
 * The same for text that anything may be in, such as a command: also what is assigned to a name that secrets go by, and long runs of
 * letters and digits that no word is.
 */
export function withoutSecrets(text: string, mark: Mark): string {
  const once = marker(mark)
  const named = withoutKnownForms(text, mark)
    .replaceAll(HEADER, (_, before: string, secret: string) => before + once(secret))
    .replaceAll(USER_OPTION, (_, before: string, secret: string) => before + once(secret))
  return withoutQueries(withoutAssigned(named, once), once).replaceAll(RUN, (run) =>
    isMixed(run) ? once(run) : run.replaceAll(WORD, (word) => (isRandom(word) ? once(word) : word)),
  )
}

const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g
const JWT = /\beyJ[\w-]{4,}\.[\w-]+(?:\.[\w-]*)*/g
/** A digit or its length tells a token from a word, as in `bearer credential`. */
const BEARER = /\b(bearer\s+)(?!\[redacted)((?=[^\s"']{0,200}\d|[\w.~+/=-]{20})[\w.~+/=-]{8,})/gi
const USER_INFO = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)(?!\[redacted)([^\s/?#@"'<>]{1,400})(?=@)/gi

/** The beginnings that the issuers of keys gave them. */
const BEGINNINGS =
  /(?<![A-Za-z0-9])(?:(?:sk|pk|rk|ak|api|key|pat|ghp|gho|ghu|ghs|ghr|glpat|npm|hf|whsec|dop_v1|shp(?:at|ss|ca|pa)|xox[abeoprs])[-_](?=[\w-]{0,60}\d)[\w-]{8,}|github_pat_\w{10,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|ya29\.[\w-]{10,}|SG\.[\w-]{10,}(?:\.[\w-]+)?)/g

const HEADER =
  /\b((?:proxy-)?authorization["']?\s{0,8}[:=]\s{0,8}["']?|(?:set-)?cookie["']?\s{0,8}[:=]\s{0,8}["']?)(?!\[redacted)([^"'\r\n]{1,8000})/gi
const USER_OPTION =
  /((?<!\S)(?:-u|--user|--proxy-user)(?:\s{1,8}|=)["']?[^\s:"']{0,200}:)(?!\[redacted)([^\s"']{1,400})/g
/** A name, then what assigns to it; or an option, then a blank. */
const ASSIGNED =
  /(?<![\w.-])([-$]{0,2}[A-Za-z_][\w.-]{0,80})(?:\\{0,4}["']?\s{0,8}[=:]\s{0,8}|(?<=(?:^|\s)--[\w.-]{1,81})\s{1,8})(\\{0,4}["'])?/g
const QUOTED = { '"': /[^"\\]{1,4000}/y, "'": /[^'\\]{1,4000}/y }
const BARE = /[^\s"',;&|)\]}\\]{1,4000}/y
const ADDRESS = /:\/\/[^\s"'<>]{1,8000}/g
const QUERY = /([?&#;][\w.~%[\]-]{0,100}=)(?!\[redacted)([^&#;]{1,8000})/g

const WORD = /[A-Za-z0-9]{16,}/g
const RUN = /[A-Za-z0-9+/]{16,}={0,2}/g

/** The value of one name may hold the next: only that of a name of secrets is passed over. */
function withoutAssigned(text: string, mark: Mark): string {
  const pieces: string[] = []
  let copied = 0
  for (const match of text.matchAll(ASSIGNED)) {
    const [whole, name = '', quote = ''] = match
    const start = match.index + whole.length
    if (start < copied || !isSecretName(name) || text.startsWith('[redacted', start)) continue
    const value = quote.endsWith('"') ? QUOTED['"'] : quote.endsWith("'") ? QUOTED["'"] : BARE
    value.lastIndex = start
    const secret = value.exec(text)?.[0] ?? ''
    const isCount = /^\d+$/.test(secret) && !isSecretNumberName(name)
    if (secret === '' || isCount) continue
    pieces.push(text.slice(copied, start), mark(secret))
    copied = start + secret.length
  }
  return pieces.join('') + text.slice(copied)
}

/** Letters and digits in turns, or letters of both cases among digits; or longer than any word. */
function isRandom(word: string): boolean {
  if (word.length >= 40) return true
  const isOfAll = /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word)
  return isOfAll || turnsOf(word) >= 3
}

/** Base64, in which a `/` is no end of a name: more turns than a path has. */
function isMixed(run: string): boolean {
  return run.length >= 36 && /[+/]/.test(run) && turnsOf(run) + humpsOf(run) >= 8
}

function turnsOf(text: string): number {
  return text.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0
}

function humpsOf(text: string): number {
  return text.match(/[a-z](?=[A-Z])/g)?.length ?? 0
}

/** What is marked already stays as it is. */
function marker(mark: Mark): Mark {
  return (secret) => (secret.startsWith('[redacted') ? secret : mark(secret))
}
