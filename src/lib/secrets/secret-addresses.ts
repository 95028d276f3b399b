import { isRandom, type Mark, isSecretName } from './secret-names.ts'

/** An address behind its scheme. */
const ADDRESS = /\b([a-z][a-z0-9+.-]{0,20}):\/\/([^\s"'<>`]{1,4000})/gi

/** The text without user names and passwords in addresses. */
export function withoutUserInfo(text: string, mark: Mark): string {
  return text.replaceAll(ADDRESS, (whole, scheme: string, rest: string) => {
    const end = userInfoEnd(scheme.toLowerCase(), rest)
    return end <= 0 ? whole : `${scheme}://${mark(rest.slice(0, end))}${rest.slice(end)}`
  })
}

/**
 * The index of the `@` after a user, or 0. A password may hold `/`, `?` and `@`; then the
 * address begins with a user and a colon, which differs from a host and a port.
 */
function userInfoEnd(scheme: string, rest: string): number {
  if (rest.startsWith('[redacted')) return 0
  const path = /[?#]/.exec(rest)?.index ?? rest.length
  const authority = /[/?#]/.exec(rest)?.index ?? rest.length
  if (rest.slice(0, authority).includes('@')) {
    const end = lastHost(rest, path)
    return rest.slice(0, end) === 'git' ? 0 : end
  }
  const isHostAndPort =
    /^(?:https?|wss?)$/.test(scheme) && /^[^:/?#]*:\d{1,5}(?:[/?#]|$)/.test(rest)
  return !isHostAndPort && /^[^:/?#@]*:[^/]/.test(rest) ? lastHost(rest, rest.length) : 0
}

/** The last `@` before `end` that a host may follow. */
function lastHost(rest: string, end: number): number {
  for (let at = rest.lastIndexOf('@', end - 1); at > 0; at = rest.lastIndexOf('@', at - 1)) {
    if (/[\w[]/.test(rest.charAt(at + 1))) return at
  }
  return 0
}

const PARAMETER = /([?&#;]([\w.~%[\]-]{0,100})=)(?!\[redacted)([^&#;]{1,4000})/g

/** Path segments that are followed by a webhook's secret. */
const WEBHOOK = /(?:^|\/)(?:(?:in-?coming-?)?web-?hooks?(?:b2)?|hooks?|services|workflows)(?=\/)/i
const WEBHOOK_HOST = /^(?:hooks?|web-?hooks?)\.|\.webhook\./i

/** The text without the secrets in paths and queries of addresses. */
export function withoutAddresses(text: string, mark: Mark): string {
  return text.replaceAll(ADDRESS, (_, scheme: string, rest: string) => {
    const query = /[?#]/.exec(rest)?.index ?? rest.length
    const path = withoutWebhook(rest.slice(0, query), mark)
    const parameters = rest
      .slice(query)
      .replaceAll(PARAMETER, (whole: string, before: string, name: string, value: string) =>
        isHarmless(name, value) ? whole : before + mark(value),
      )
    return `${scheme}://${path}${parameters}`
  })
}

function withoutWebhook(address: string, mark: Mark): string {
  const slash = address.indexOf('/')
  if (slash < 0) return address
  const host = address.slice(0, slash)
  const found = WEBHOOK.exec(address.slice(slash))
  if (found === null && !WEBHOOK_HOST.test(host)) return address
  const begin = slash + (found === null ? 0 : found.index + found[0].length)
  const segments = address.slice(begin).split('/')
  return (
    address.slice(0, begin) +
    segments.map((each) => (isSegmentSecret(each) ? mark(each) : each)).join('/')
  )
}

function isSegmentSecret(segment: string): boolean {
  return (
    !segment.startsWith('[redacted') &&
    segment.length >= 6 &&
    (/\d/.test(segment) || segment.length >= 16)
  )
}

/** Parameters that page, sort or filter: no secret, unless the value looks like one. */
const HARMLESS =
  /^(?:page|per_?page|page_?size|limit|offset|start|end|from|to|since|until|before|after|date|day|month|year|sort|order|order_?by|dir|direction|tab|view|mode|theme|lang|language|locale|format|type|kind|status|state|filter|size|width|height|ref|branch|tag|v|version|api-version|sv|se|st|sr|sp|spr|ss|srt|x-(?:amz|goog)-(?:algorithm|date|expires|signedheaders)|expires|utm_\w{1,20}|retrywrites|w|sslmode|ssl|tls|charset|encoding|timezone|tz)$/i

/** Parameters whose value is always a secret, even a word. */
const CARRIER =
  /^(?:code|ticket|nonce|sid|session|j?session_?id|phpsessid|assertion|saml\w{0,20}|invite|invitation)$/i

/** Words and small numbers are no secrets under other names; `pin=1234` and `code=1234` are. */
function isHarmless(name: string, value: string): boolean {
  if (isSecretName(name) || CARRIER.test(name) || isOpaque(value)) return false
  return HARMLESS.test(name) || isPlain(value)
}

/** True for words without digits and short numbers, separated as in names, paths and dates. */
function isPlain(value: string): boolean {
  return decoded(value)
    .split(/[-_.,:/ ]+/)
    .every((word) => /^(?:\p{L}{0,24}|\d{1,6})$/u.test(word))
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '))
  } catch {
    return value
  }
}

function isOpaque(value: string): boolean {
  return value.split(/[^A-Za-z0-9]+/).some((word) => word.length >= 16 && isRandom(word))
}
