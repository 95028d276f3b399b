import {
  fieldOf,
  MAX_USERS_PER_REQUEST,
  UnknownOutcomeError,
  type Credits,
  type WantedLimit,
} from '../../client/index.ts'
import { asError, DeferredError, ExitCode } from '../../lib/errors.ts'
import { firstLines } from '../../observe/words.ts'
import { inChunks } from '../../lib/grouped.ts'
import { parseExactly } from '../../lib/json.ts'
import { counted, digits } from '../../lib/text.ts'
import type { Answer, Terminal } from '../command.ts'
import { mayChange, type Ask } from './change.ts'
import { HalfDoneError, type Platform } from './platform.ts'
import { listAt, tableText, textOf } from './render.ts'

const SHOWN = 5

/** The result for one user. `unknown`: sent, no answer; `not tried`: an earlier one failed. */
type Result = 'set' | 'removed' | 'unchanged' | 'failed' | 'unknown' | 'not tried'

/** A wanted limit and the present one. */
interface Wish extends WantedLimit {
  readonly before: Credits
}

interface Outcome extends Wish {
  readonly result: Result
  readonly error: string | null
}

/**
 * Sets limits of users, a hundred per request. Limits that are already set are not sent unless
 * forced, so that the command can be repeated after a failure. Exits with 3 if the platform did
 * not set some of them.
 *
 * @throws the error of a request that failed; HalfDoneError if limits were set before it.
 */
export async function setLimits(
  platform: Platform,
  wanted: readonly WantedLimit[],
  isForced: boolean,
  terminal: Terminal,
): Promise<Answer | ExitCode> {
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
  const answer = answerOf([...outcomes, ...unchanged], terminal)
  if (failure === null) return answer
  platform.print(answer)
  const done = outcomes.filter(({ result }) => result === 'set' || result === 'removed')
  if (done.length === 0) throw failure
  throw new HalfDoneError(
    `${done.length} of ${counted(outcomes.length, 'limit')} were set before`,
    'When the cause is fixed, run the command again: it sends only the limits that are not set yet.',
    failure,
  )
}

/** The limits as served. Integers beyond 2^53 are texts. */
export async function presentLimits({ client }: Platform): Promise<unknown> {
  const { items } = await client.limits.fetch()
  return parseExactly(items[0]?.text ?? '{}')
}

/** A limit in a part of `presentLimits`. */
export function creditsOf(value: unknown, name: string): Credits {
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

export function limitText(limit: Credits): string {
  return limit === null ? 'none' : digits(limit)
}

async function sendAll(
  platform: Platform,
  batches: readonly Wish[][],
): Promise<{ readonly outcomes: readonly Outcome[]; readonly failure: Error | null }> {
  const outcomes: Outcome[] = []
  let failure: Error | null = null
  for (const batch of batches) {
    if (failure !== null) {
      outcomes.push(...batch.map((wish) => outcome(wish, 'not tried')))
      continue
    }
    try {
      const result = parseExactly((await platform.client.limits.sendUsers(batch)).text)
      outcomes.push(...batch.map((wish) => answered(wish, result, platform.hide)))
    } catch (error) {
      failure = asError(error)
      outcomes.push(...batch.map((wish) => outcome(wish, afterFailure(error))))
    }
  }
  return { outcomes, failure }
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
 * What the platform set, in words, if its answer names another limit than the wanted one.
 * `answer`: parsed exactly, because a platform may round a limit beyond 2^53 as JavaScript does.
 */
export function otherLimit(wanted: Credits, answer: unknown): string | null {
  const limit = creditsOf(answer, 'limit')
  const isLimit = limit !== null || fieldOf(answer, 'limit') === null
  if (wanted === null || !isLimit || limit === wanted) return null
  return `the platform set ${limitText(limit)}`
}

/** A request without an answer may have set limits; others set none. */
function afterFailure(failure: unknown): Result {
  if (failure instanceof UnknownOutcomeError) return 'unknown'
  return failure instanceof DeferredError ? 'not tried' : 'failed'
}

function outcome(wish: Wish, result: Result, error: string | null = null): Outcome {
  return { ...wish, result, error }
}

function answerOf(outcomes: readonly Outcome[], terminal: Terminal): Answer {
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
