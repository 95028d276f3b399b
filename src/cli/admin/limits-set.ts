import {
  fieldOf,
  MAX_USERS_PER_REQUEST,
  UnknownOutcomeError,
  type Credits,
  type WantedLimit,
} from '../../client/index.ts'
import { DeferredError, ExitCode } from '../../lib/errors.ts'
import { counted, digits } from '../../observe/words.ts'
import type { Terminal } from '../command.ts'
import { mayChange, type Ask, type ChangeFlags } from './change.ts'
import { HalfDoneError, type Platform } from './platform.ts'
import { listAt, tableText, textOf, valueJson } from './render.ts'

export interface SetFlags extends ChangeFlags {
  /** Send also what is so already. */
  readonly force: boolean
}

/** Users that a question names. */
const SHOWN = 5

/** What came of one user. `unknown`: sent, and no answer came; `not tried`: something failed before. */
type Result = 'set' | 'removed' | 'unchanged' | 'failed' | 'unknown' | 'not tried'

interface Outcome {
  readonly email: string
  readonly before: number | null
  readonly limit: Credits
  readonly result: Result
  readonly error: string | null
}

/** A wanted limit beside the present one, which is not exact beyond 2^53: then it is never the same. */
interface Wish extends WantedLimit {
  readonly before: number | null
}

/**
 * Brings limits of users about, a hundred a request. What is so already is not
 * sent, so that after a failure the same may be run again.
 *
 * @returns 3 when the platform did not set some of them.
 * @throws the error of a request that failed, after saying what was set before it.
 */
export async function setLimits(
  platform: Platform,
  wanted: readonly WantedLimit[],
  flags: SetFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const wishes = await wishesOf(platform, wanted)
  const due = wishes.filter(({ before, limit }) => flags.force || before !== limit)
  const batches = batchesOf(due)
  const unchanged = wishes
    .filter((wish) => !due.includes(wish))
    .map((wish) => outcomeOf(wish, 'unchanged'))
  if (due.length > 0) {
    const what = `${counted(due.length, 'limit')} of users: ${described(due)}`
    const asks = batches.map(
      (batch): Ask =>
        (client) =>
          client.limits.setUsers(batch),
    )
    if (!(await mayChange(platform, flags, terminal, { what, asks }))) return ExitCode.complete
  }
  const { outcomes, failure } = await sendAll(platform, batches)
  const all = [...outcomes, ...unchanged]
  terminal.out(flags.json ? valueJson(asJson(all)) : asText(all, terminal))
  if (failure !== null) throw halfDone(outcomes, failure)
  return all.some(({ result }) => result === 'failed') ? ExitCode.partial : ExitCode.complete
}

/** A limit in words. */
export function limitText(limit: Credits): string {
  return limit === null ? 'none' : digits(limit)
}

/** The present limits, by e-mail address without regard to case. */
async function wishesOf(platform: Platform, wanted: readonly WantedLimit[]): Promise<Wish[]> {
  const { userLimits } = await platform.client.limits.get()
  const present = new Map(userLimits.map(({ email, limit }) => [email.toLowerCase(), limit]))
  return wanted.map(({ email, limit }) => ({
    email,
    limit,
    before: present.get(email.toLowerCase()) ?? null,
  }))
}

function batchesOf(wishes: readonly Wish[]): Wish[][] {
  const count = Math.ceil(wishes.length / MAX_USERS_PER_REQUEST)
  return Array.from({ length: count }, (_, index) =>
    wishes.slice(index * MAX_USERS_PER_REQUEST, (index + 1) * MAX_USERS_PER_REQUEST),
  )
}

interface Sent {
  readonly outcomes: readonly Outcome[]
  /** What ended it before the last batch. */
  readonly failure: unknown
}

async function sendAll(platform: Platform, batches: readonly Wish[][]): Promise<Sent> {
  const outcomes: Outcome[] = []
  for (const [index, batch] of batches.entries()) {
    try {
      const result = await platform.client.limits.setUsers(batch)
      outcomes.push(...batch.map((wish) => answered(wish, result, platform.hide)))
    } catch (failure) {
      const left = batches.slice(index + 1).flat()
      outcomes.push(
        ...batch.map((wish) => outcomeOf(wish, afterFailure(failure))),
        ...left.map((wish) => outcomeOf(wish, 'not tried')),
      )
      return { outcomes, failure }
    }
  }
  return { outcomes, failure: null }
}

/** What the answer says of one user, who is in one of its two lists. */
function answered(wish: Wish, result: unknown, hide: (text: string) => string): Outcome {
  const isIt = (entry: unknown): boolean =>
    textOf(fieldOf(entry, 'email')).toLowerCase() === wish.email.toLowerCase()
  const refusal = listAt(result, 'errors').find(isIt)
  if (refusal !== undefined) {
    return outcomeOf(wish, 'failed', hide(textOf(fieldOf(refusal, 'error'))))
  }
  if (!listAt(result, 'updated').some(isIt)) {
    return outcomeOf(wish, 'failed', 'the platform does not say what came of it')
  }
  return outcomeOf(wish, wish.limit === null ? 'removed' : 'set')
}

/** A request that was refused for certain did nothing. */
function afterFailure(failure: unknown): Result {
  if (failure instanceof UnknownOutcomeError) return 'unknown'
  return failure instanceof DeferredError ? 'not tried' : 'failed'
}

function outcomeOf(
  { email, before, limit }: Wish,
  result: Result,
  error: string | null = null,
): Outcome {
  return { email, before, limit, result, error }
}

function halfDone(outcomes: readonly Outcome[], failure: unknown): HalfDoneError {
  const done = outcomes.filter(({ result }) => result === 'set' || result === 'removed')
  return new HalfDoneError(
    `${done.length} of ${counted(outcomes.length, 'limit')} were set before`,
    'Run the same again: only what is not so yet is sent.',
    failure,
  )
}

function asJson(outcomes: readonly Outcome[]): object {
  return { ...countsOf(outcomes), users: outcomes }
}

function countsOf(outcomes: readonly Outcome[]): Partial<Record<Result, number>> {
  const results = [...new Set(outcomes.map(({ result }) => result))]
  return Object.fromEntries(
    results.map((each) => [
      each.replace(' ', '_'),
      outcomes.filter(({ result }) => result === each).length,
    ]),
  )
}

function asText(outcomes: readonly Outcome[], terminal: Terminal): string {
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
  return (
    (rows.length === 0 ? '' : tableText(['user', 'before', 'limit', 'result'], rows, terminal)) +
    note
  )
}

/** The first few, for the question. */
function described(wishes: readonly Wish[]): string {
  const shown = wishes
    .slice(0, SHOWN)
    .map(({ email, before, limit }) => `${email} ${limitText(before)} → ${limitText(limit)}`)
  const more = wishes.length - shown.length
  return [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join(', ')
}
