import { withoutAddresses, withoutUserInfo } from './secret-addresses.ts'
import {
  isSecretName,
  isSecretNumberName,
  isMixed,
  isPublic,
  isRandom,
  type Mark,
} from './secret-names.ts'

/*
 * Every pattern takes linear time: the part after a long run is optional, so that a run
 * is read once, and every repetition is bounded, which bounds the stack.
 */

/**
 * The text without secrets of a known form, wherever it comes from: keys and tokens by their
 * prefixes, JWTs, private keys, and what follows `Bearer` or a user name in an address.
 */
export function withoutKnownForms(text: string, mark: Mark): string {
  if (SHORT_WORD.test(text)) return text
  const once = marker(mark)
  const open = text
    .replaceAll(BLOCK, once)
    .replaceAll(JWT, (token) => (token.includes('.') ? once(token) : token))
    .replaceAll(BEARER, (whole, before: string, secret: string) =>
      isToken(secret) ? before + once(secret) : whole,
    )
    .replaceAll(BASIC, (whole, before: string, secret: string) =>
      isUserAndPassword(secret) ? before + once(secret) : whole,
    )
  return withoutUserInfo(open, once).replaceAll(BEGINNINGS, once)
}

/** Also removes the secrets in paths and queries of addresses. */
export function withoutAddressed(text: string, mark: Mark): string {
  return withoutAddresses(withoutKnownForms(text, mark), marker(mark))
}

/**
 * For text that may hold anything, such as a command: also removes values that are assigned to
 * a name for secrets, and long runs of letters and digits that are no words.
 */
export function withoutSecrets(text: string, mark: Mark): string {
  if (SHORT_WORD.test(text)) return text
  const once = marker(mark)
  const open = withoutIntroduced(withoutKnownForms(text, mark), once)
  const named = withoutAssigned(withoutNamed(open, once), once)
  return withoutAddresses(named, once).replaceAll(RUN, (run) => {
    if (isPublic(run)) return run
    return isMixed(run)
      ? once(run)
      : run.replaceAll(WORD, (word) => (isRandom(word) ? once(word) : word))
  })
}

/** Most names and values. None of the forms is as short as this without digits and signs. */
const SHORT_WORD = /^[A-Za-z_]{0,15}$/

/** Private keys of PEM, PGP, SSH2, age and PuTTY, and messages of PGP, up to their end or that of the text; public ones stay. */
const BLOCK =
  /(?:-{4,5} ?BEGIN (?:[A-Z0-9]{1,20} ){0,6}(?:PRIVATE KEY|PRIVATE KEY BLOCK|MESSAGE|ENCRYPTED FILE) ?-{4,5}|Private-Lines: {0,4}\d{1,4})[^]*?(?:-{4,5} ?END [A-Z0-9 ]{1,80}-{4,5}|Private-MAC: {0,4}[0-9a-f]{1,200}|$)/g
const JWT = /\beyJ[\w-]{4,16384}(?:\.[\w-]{0,16384}){0,5}/g
const BEARER = /\b(bearer\s{1,8})(?!\[redacted)([\w.~+/=-]{8,8192})/gi
const BASIC = /\b(basic\s{1,8})(?!\[redacted)([A-Za-z0-9+/_-]{6,2048}={0,2})/gi

/** A token, unlike the word in `bearer credential`, has a digit or is long. */
function isToken(text: string): boolean {
  return text.length >= 20 || /\d/.test(text)
}

function isUserAndPassword(base64: string): boolean {
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(base64, 'base64').toString('latin1'))
}

/** Keys with the prefixes of their issuers. */
const BEGINNINGS = new RegExp(
  [
    String.raw`(?<![A-Za-z0-9])(?:`,
    String.raw`(?:sk|pk|rk|ak|fk|api|key|pat|ghp|gho|ghu|ghs|ghr|glpat|gldt|glrt|glsa|glc|npm|pypi|hf|whsec|dop_v1|doo_v1|dckr_pat|dapi|lin_api|ntn|pul|nvapi|gsk|rubygems|tfp|sntrys|sntryu|sbp|xai|r8|phc|phx|PMAK|NRAK|CCIPAT|figd|shp(?:at|ss|ca|pa)|xox[abeoprs]|xapp)[-_](?=[\w-]{0,60}\d)[\w-]{8,512}`,
    String.raw`|github_pat_\w{10,512}|AGE-SECRET-KEY-1[A-Z0-9]{10,200}`,
    String.raw`|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,40}|AIza[\w-]{20,200}|ya29\.[\w-]{10,2048}`,
    String.raw`|SG\.[\w-]{10,200}(?:\.[\w-]{1,200})?|hv[sbr]\.[\w-]{16,512}|(?:bot)?\d{6,12}:AA[\w-]{20,60}`,
    String.raw`|[\w-]{10,80}\.atlasv1\.[\w-]{20,200}|dapi[0-9a-f]{32}`,
    ')',
  ].join(''),
  'g',
)

/** A name and a sign that assigns to it; or an option and a blank. */
const ASSIGNED =
  /(?<![\w.-])([-$]{0,2}[A-Za-z_][\w.-]{0,80})(?:\\{0,4}["']?\s{0,8}[=:]\s{0,8}|(?<=(?:^|\s)--[\w.-]{1,81})\s{1,8})(\\{0,4}["'])?/g
const QUOTED = { '"': /[^"\\]{1,4000}/y, "'": /[^'\\]{1,4000}/y }
const BARE = /[^\s"',;&|)\]}\\]{1,4000}/y

const WORD = /[A-Za-z0-9]{16,8192}/g
const RUN = /[A-Za-z0-9+/]{16,8192}={0,2}/g

/** A value may hold the next assignment, so only the values of names for secrets are skipped. */
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
    if (secret === '' || isCount(name, secret) || secret.startsWith('//')) continue
    pieces.push(text.slice(copied, start), mark(secret))
    copied = start + secret.length
  }
  return pieces.join('') + text.slice(copied)
}

/** `maxTokens=4096`, but not `pin=4711`. */
function isCount(name: string, value: string): boolean {
  return /^\d+$/.test(value) && !isSecretNumberName(name)
}

/** `set NAME value`, which may be prose: only what looks like a token is a secret. */
const SET =
  /(\bset(?:x|env)?[ \t]{1,4}(?:--?[\w-]{1,40}[ \t]{1,4}){0,3}([\w.:/-]{1,80})[ \t]{1,4}["']?)(?!\[redacted|[-=])([^\s"']{1,4000})/g
/** A name and a value as two attributes, or two keys. */
const PAIR =
  /(\b(?:name|key)["']?\s{0,4}[:=]\s{0,4}["']?([\w.-]{1,80})["']?[\s,]{1,20}["']?value["']?\s{0,4}[:=]\s{0,4}["']?)(?!\[redacted)((?<=")[^"]{1,4000}|(?<=')[^']{1,4000}|[^\s"'<>,}]{1,4000})/gi
const ELEMENT = /(<([\w.:-]{1,80})(?:\s[^<>]{0,200})?>)(?!\s{0,8}\[redacted)([^<>]{1,4000})(?=<\/)/g

/** The text without values next to a name for secrets: `<password>…</password>`. */
function withoutNamed(text: string, mark: Mark): string {
  const replaced = (whole: string, before: string, name: string, value: string): string =>
    isSecretName(name) && value.trim() !== '' && !isCount(name, value)
      ? before + mark(value)
      : whole
  return text
    .replaceAll(SET, (whole: string, before: string, name: string, value: string) =>
      isToken(value) ? replaced(whole, before, name, value) : whole,
    )
    .replaceAll(PAIR, replaced)
    .replaceAll(ELEMENT, replaced)
}

/** Keeps text that is already redacted. */
function marker(mark: Mark): Mark {
  return (secret) => (secret.startsWith('[redacted') ? secret : mark(secret))
}

/** One-letter options for a password, by program. */
const OPTIONS: readonly (readonly [programs: string, option: string])[] = [
  ['sshpass|mongo(?:sh|dump|restore|export|import)?|7z[ar]?|cqlsh|kinit|snowsql|vsql', '-p'],
  [
    '(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|cosign|helm registry|az|oc|cf|heroku|vault) login',
    '-p',
  ],
  ['redis-cli|valkey-cli|keydb-cli', '-a'],
  ['ldap(?:search|add|modify|delete|whoami|passwd)|security|etcdctl', '-w'],
  ['sqlcmd|bcp|isql|zip|unzip|mosquitto_(?:pub|sub|rr)|rar|unrar', '-P'],
  ['plink|pscp|psftp|putty', '-pw'],
  ['xfreerdp|rdesktop', '(?:/p:|-p)'],
  ['ssh-keygen', '-N'],
  ['amqp-\\w{1,20}|rabbitmqadmin|ipmitool|net rpc', '(?:-p|-P)'],
]

const VALUE = String.raw`(?:"[^"\r\n]{1,400}"|'[^'\r\n]{1,400}'|[^\s"';&|]{1,400})`
const BETWEEN = String.raw`(?:[^\n;&|]{0,200}?\s)`

const MYSQL = String.raw`(?<![\w.-])(?:mysql(?:dump|admin|import|check|sh|show)?|mariadb(?:-dump|-admin|-import|-check)?)`

/** A pattern of two groups: what comes before a secret, and the secret. */
function introduced(source: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  return new RegExp(String.raw(source, ...parts), 'g')
}

const INTRODUCED: readonly RegExp[] = [
  /\b((?:proxy-)?authorization["']?\s{0,8}[:=]\s{0,8}["']?|(?:set-)?cookie["']?\s{0,8}[:=]\s{0,8}["']?)(?!["'\s]{0,9}\[redacted)([^"'\r\n]{1,8000})/gi,
  // MySQL takes the password directly after -p; after a blank comes the name of a database
  introduced`(${MYSQL}\b${BETWEEN}-p)(?!\[redacted|[ \t])(${VALUE})`,
  // of two names after -p, the first is a password by mistake
  introduced`((?<![\w.-])(?:mysql|mariadb)\b${BETWEEN}-p[ \t]{1,4})(?!\[redacted|[ \t-])(${VALUE})(?=[ \t]{1,4}["'\w])`,
  ...OPTIONS.map(
    ([programs, option]) =>
      introduced`((?<![\w.-])(?:${programs})\b${BETWEEN}${option}[ \t=]{0,4})(?!\[redacted|[ \t]|--?[a-z])(${VALUE})`,
  ),
  // a user, then a colon, behind an option of several letters or of other programs
  introduced`((?<![\w.-])(?:curl\b${BETWEEN}-[A-Za-z]{1,8}u|(?:https?|xh)\b${BETWEEN}(?:-a|--auth))[ \t=]{0,4}["']?[^\s:"']{0,200}:)(?!\[redacted|\/\/)([^\s"']{1,400})`,
  introduced`((?<![\w.-])lftp\b${BETWEEN}(?:-u|--user)[ \t=]{0,4}["']?[^\s,"']{1,200},)(?!\[redacted)([^\s"']{1,400})`,
  // cookies, but not the name of a cookie file
  introduced`((?<![\w.-])curl\b${BETWEEN}(?:-b|--cookie)[ \t=]{0,4})(?!\[redacted|["']\[redacted)("[^"=\r\n]{1,100}=[^"\r\n]{1,400}"|'[^'=\r\n]{1,100}=[^'\r\n]{1,400}'|[^\s"'=]{1,100}=[^\s"';&|]{1,400})`,
  // the last argument
  introduced`(\bvault login[ \t]{1,4})(?!\[redacted|-)(${VALUE})`,
  introduced`(\bhtpasswd(?![^\n;&|]{0,400}\[redacted)[ \t]{1,4}-\w{0,5}b\w{0,5}[ \t]{1,4}(?:[^\s;&|]{1,200}[ \t]{1,4}){1,2})(${VALUE})`,
  new RegExp(
    String.raw`(\bnet use\b${BETWEEN}\/user:[^\s]{1,200}[ \t]{1,4})(?!\[redacted|\/)(${VALUE})`,
    'gi',
  ),
  // a line of .netrc
  /(\bmachine\s{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8})(?!\[redacted)(\S{1,400})/g,
  // a user, then a colon or a percent sign
  /((?<!\S)(?:-u|-U|--user|--proxy-user)[ \t=]{0,4}["']?[^\s:"'%]{0,200}[:%])(?!\[redacted|\/\/)([^\s"']{1,400})/g,
  /((?<!\S)-pass(?:in|out)?[ \t]{1,4}pass:)([^\s"']{1,400})/g,
  /((?<!\S)--?(?:[a-z]{1,20}-){0,3}(?:pass(?:word|phrase|wd)?|pwd|token|secret)[ \t=]{1,4})(?!\[redacted|-)("[^"\r\n]{1,400}"|'[^'\r\n]{1,400}'|[^\s"']{1,400})/gi,
  // of a password on standard input: echo … | sudo -S
  /(\bsudo[ \t]{1,4}-S[^\n;&|]{0,80}?<<<[ \t]{0,4})(?!\[redacted)("[^"\r\n]{1,400}"|'[^'\r\n]{1,400}'|[^\s"']{1,400})/g,
  /(\b(?:echo|printf)[ \t]{1,4}(?:-n[ \t]{1,4})?)(?!\[redacted)(["']?[^\s"'|]{1,200}["']?)(?=[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]+-S|(?:docker|podman|helm registry)[ \t]login|passwd|chpasswd))/g,
]

/** The text without secrets after headers and program options: `Cookie: …`, `mysql -p…`, `curl -u user:…`. */
function withoutIntroduced(text: string, mark: Mark): string {
  return INTRODUCED.reduce(
    (rest, pattern) =>
      rest.replaceAll(pattern, (_: string, before: string, value: string) => {
        const quote = /^["']/.exec(value)?.[0] ?? ''
        const secret = quote === '' ? value : value.slice(1, -1)
        return before + quote + mark(secret) + quote
      }),
    text,
  )
}
