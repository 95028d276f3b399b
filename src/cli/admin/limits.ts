import {
  checkGlobalLimit,
  fieldOf,
  MAX_USERS_PER_REQUEST,
  UnknownOutcomeError,
  type ApiClient,
  type Credits,
  type WantedLimit,
} from '../../client/index.ts'
import { asError, DeferredError, ExitCode } from '../../lib/errors.ts'
import { inChunks } from '../../lib/grouped.ts'
import { parseExactly } from '../../lib/json.ts'
import { counted, digits } from '../../lib/text.ts'
import { firstLines } from '../../observe/words.ts'
import {
  argument,
  flag,
  optionalArgument,
  text,
  type Output,
  type Entry,
  type Terminal,
} from '../command.ts'
import {
  changeOptions,
  HalfDoneError,
  mayChange,
  platformCommand,
  type Ask,
  type Platform,
} from './platform.ts'
import { fieldsOf, listAt, tableText, textOf } from './render.ts'
import { emailOf, limitOf, wantedOf } from './wanted-limits.ts'

const options = { ...changeOptions, force: flag('also send limits that are already set') }

const listLimits = platformCommand({
  examples: {
    '$0 limits list': 'show the global limit, and the users who have their own',
    '$0 limits list --json': 'show the limits as raw JSON',
  },
  options: {},
  work: (_, terminal) => async (platform) => {
    const { items } = await platform.client.limits.fetch()
    const limits = platform.clean('usage_limits', items[0]?.text ?? '{}')
    return { json: limits.text, text: limitsText(parseExactly(limits.text), terminal) }
  },
})

const setLimit = platformCommand({
  examples: {
    '$0 limits set ada.abara@acme.example 5000000':
      'set the limit of one user, after a confirmation',
    '$0 limits set --csv limits.csv --dry-run': 'show what would be sent for many users',
    '$0 limits set --csv limits.csv --yes --json':
      'set many limits from a script; exits with 3 if some failed',
  },
  options: {
    ...options,
    csv: text('CSV file with the header email,limit, for many users'),
    email: optionalArgument('the user'),
    limit: optionalArgument('number of credits; none removes the limit of the user'),
  },
  work: async (flags, terminal) => {
    const wanted = await wantedOf(flags, terminal.cwd)
    return (platform) => setLimits(platform, wanted, flags.force)
  },
})

const removeLimits = platformCommand({
  examples: {
    '$0 limits remove grace.hopper@acme.example ines.johnson@acme.example':
      'remove the limits of two users; the global limit then applies',
  },
  options: {
    ...options,
    emails: { ...argument('e-mail addresses of the users'), array: true },
  },
  work: (flags) => {
    const emails = flags.emails.map(emailOf)
    const distinct = new Map(emails.map((email) => [email.toLowerCase(), email]))
    const wanted = [...distinct.values()].map((email) => ({ email, limit: null }))
    return (platform) => setLimits(platform, wanted, flags.force)
  },
})

const setGlobalLimit = platformCommand({
  examples: {
    '$0 limits set-global 8000000': 'set the limit of all users who have no limit of their own',
    '$0 limits set-global none --yes': 'remove the global limit',
  },
  options: {
    ...options,
    limit: argument('number of credits, at least 1000000; none removes the limit'),
  },
  work: (flags) => {
    const limit = limitOf(flags.limit)
    checkGlobalLimit(limit)
    return async (platform) => {
      const before = creditsOf(await presentLimits(platform), 'globalLimit')
      const change = `the global limit: ${limitText(before)} → ${limitText(limit)}`
      const isDue = flags.force || before !== limit
      if (isDue) {
        const ask = (client: ApiClient) => client.limits.sendGlobal(limit)
        if (!(await mayChange(platform, change, [ask]))) return ExitCode.complete
        const error = otherLimit(limit, parseExactly((await ask(platform.client)).text))
        if (error !== null) {
          const json = { before, limit, result: 'failed', error }
          return { json, text: `${change}, failed: ${error}\n`, exitCode: ExitCode.partial }
        }
      }
      const done = limit === null ? 'removed' : 'set'
      const result = isDue ? done : 'unchanged'
      return { json: { before, limit, result }, text: `${change}, ${result}\n` }
    }
  },
})

export const limits: readonly Entry[] = [
  ['list', 'show the global limit and the limits of users', listLimits],
  ['set [email] [limit]', 'set the limit of a user, or of many users from a file', setLimit],
  [
    'set-global <limit>',
    'set the limit of all users who have no limit of their own',
    setGlobalLimit,
  ],
  ['remove <emails..>', 'remove the limits of users; the global limit then applies', removeLimits],
]

function limitsText(limits: unknown, terminal: Terminal): string {
  const global = creditsOf(limits, 'globalLimit')
  const rows = listAt(limits, 'userLimits').map((each) => fieldsOf(each, 'email', 'limit'))
  const first =
    global === null
      ? 'There is no global limit'
      : `Global limit: ${limitText(global)} credits for each user who has no limit of their own`
  return `${first}\n\n${tableText(['user', 'limit'], rows, terminal)}`
}

const SHOWN = 5

/** The result for one user. `unknown`: sent, no response; `not tried`: an earlier one failed. */
type Result = 'set' | 'removed' | 'unchanged' | 'failed' | 'unknown' | 'not tried'

/** A wanted limit and the present one. */
interface Wish extends WantedLimit {
  readonly before: Credits
}

type Outcome = Readonly<ReturnType<typeof outcome>>

/**
 * Sets limits of users, a hundred per request. Limits that are already set are not sent unless
 * forced, so that the command can be repeated after a failure. Exits with 3 if the platform did
 * not set some of them.
 *
 * @throws the error of a request that failed; HalfDoneError if limits were set before it.
 */
async function setLimits(
  platform: Platform,
  wanted: readonly WantedLimit[],
  isForced: boolean,
): Promise<Output | ExitCode> {
  const entries = listAt(await presentLimits(platform), 'userLimits')
  const present = new Map(entries.map((entry) => [userOf(entry), creditsOf(entry, 'limit')]))
  const wishes = wanted.map((wish): Wish => {
    const { email, limit } = wish
    return { email, before: present.get(userOf(wish)) ?? null, limit }
  })
  const isDue = ({ before, limit }: Wish): boolean => isForced || before !== limit
  const due = wishes.filter(isDue)
  const batches = inChunks(due, MAX_USERS_PER_REQUEST)
  if (due.length > 0) {
    const what = `${counted(due.length, 'limit')} of users: ${described(due)}`
    const ask = (batch: readonly Wish[]): Ask => {
      return (client) => client.limits.sendUsers(batch)
    }
    if (!(await mayChange(platform, what, batches.map(ask)))) return ExitCode.complete
  }
  const { outcomes, failure } = await sendAll(platform, batches)
  const unchanged = wishes.filter((wish) => !isDue(wish)).map((wish) => outcome(wish, 'unchanged'))
  const output = outputOf([...outcomes, ...unchanged], platform.terminal)
  if (failure === null) return output
  platform.print(output)
  const done = outcomes.filter(({ result }) => result === 'set' || result === 'removed')
  if (done.length === 0) throw failure
  throw new HalfDoneError(
    `${done.length} of ${counted(outcomes.length, 'limit')} were set before`,
    'When the cause is fixed, run the command again: it sends only the limits that are not set yet.',
    failure,
  )
}

/** The limits as served. Integers beyond 2^53 are texts. */
async function presentLimits({ client }: Platform): Promise<unknown> {
  const { items } = await client.limits.fetch()
  return parseExactly(items[0]?.text ?? '{}')
}

/** A limit in a part of `presentLimits`. */
function creditsOf(value: unknown, name: string): Credits {
  const limit = fieldOf(value, name)
  if (typeof limit === 'number') return limit
  if (typeof limit !== 'string' || !/^-?\d+$/.test(limit)) return null
  const number = Number(limit)
  return Number.isSafeInteger(number) ? number : BigInt(limit)
}

/** The address of an entry, in lower case. */
function userOf(entry: unknown): string {
  return textOf(fieldOf(entry, 'email')).toLowerCase()
}

function limitText(limit: Credits): string {
  return limit === null ? 'none' : digits(limit)
}

async function sendAll(platform: Platform, batches: readonly Wish[][]) {
  const outcomes: Outcome[][] = []
  for (const [at, batch] of batches.entries()) {
    try {
      const result = parseExactly((await platform.client.limits.sendUsers(batch)).text)
      outcomes.push(batch.map((wish) => answered(wish, result, platform.hide)))
    } catch (error) {
      const rest = batches.slice(at + 1).flat()
      outcomes.push(batch.map((wish) => outcome(wish, afterFailure(error))))
      outcomes.push(rest.map((wish) => outcome(wish, 'not tried')))
      return { outcomes: outcomes.flat(), failure: asError(error) }
    }
  }
  return { outcomes: outcomes.flat(), failure: null }
}

function answered(wish: Wish, result: unknown, hide: (text: string) => string): Outcome {
  const isIt = (entry: unknown): boolean => userOf(entry) === userOf(wish)
  const refusal = listAt(result, 'errors').find(isIt)
  if (refusal !== undefined) return outcome(wish, 'failed', hide(textOf(fieldOf(refusal, 'error'))))
  const updated = listAt(result, 'updated').find(isIt)
  if (updated === undefined) return outcome(wish, 'failed', 'the platform does not report a result')
  const other = otherLimit(wish.limit, updated)
  if (other !== null) return outcome(wish, 'failed', other)
  return outcome(wish, wish.limit === null ? 'removed' : 'set')
}

/**
 * What the platform set, in words, if its response names another limit than the wanted one.
 * `response`: parsed exactly, because a platform may round a limit beyond 2^53 as JavaScript does.
 */
function otherLimit(wanted: Credits, response: unknown): string | null {
  const limit = creditsOf(response, 'limit')
  const isLimit = limit !== null || fieldOf(response, 'limit') === null
  if (wanted === null || !isLimit || limit === wanted) return null
  return `the platform set ${limitText(limit)}`
}

/** A request without a response may have set limits; others set none. */
function afterFailure(failure: unknown): Result {
  if (failure instanceof UnknownOutcomeError) return 'unknown'
  return failure instanceof DeferredError ? 'not tried' : 'failed'
}

function outcome(wish: Wish, result: Result, error: string | null = null) {
  return { ...wish, result, error }
}

function outputOf(outcomes: readonly Outcome[], terminal: Terminal): Output {
  const counts: Record<string, number> = {}
  for (const { result } of outcomes) {
    const name = result.replace(' ', '_')
    counts[name] = (counts[name] ?? 0) + 1
  }
  const rows = outcomes
    .filter(({ result }) => result !== 'unchanged')
    .map(({ email, before, limit, result, error }) => [
      email,
      limitText(before),
      limitText(limit),
      error === null ? result : `${result}: ${error}`,
    ])
  const unchanged = outcomes.length - rows.length
  const note = unchanged === 0 ? '' : `${counted(unchanged, 'limit')} unchanged, not sent\n`
  const table = tableText(['user', 'before', 'limit', 'result'], rows, terminal)
  return {
    json: { ...counts, users: outcomes },
    text: (rows.length === 0 ? '' : table) + note,
    exitCode: (counts['failed'] ?? 0) > 0 ? ExitCode.partial : ExitCode.complete,
  }
}

function described(wishes: readonly Wish[]): string {
  const changes = wishes.map(
    ({ email, before, limit }) => `${email} ${limitText(before)} → ${limitText(limit)}`,
  )
  return firstLines(changes, SHOWN, (more) => `and ${more} more`).join(', ')
}
