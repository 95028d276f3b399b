import type { WorkDay } from './calendar.ts'
import type { Model } from './catalogue.ts'
import { dayRow, groupRow } from './day-rows.ts'
import type { DayTotals, ModelSums } from './day-totals.ts'
import { array, hundredths, object, quote, type Field } from './json.ts'
import { activePeople, type Organisation } from './organisation.ts'
import { emailJsonOn, type Person } from './people.ts'
import { billableOf, userDayOf } from './user-day.ts'

/** 2^53 + 1: a number that JSON can say and a double cannot hold. */
export const HUGE_NUMBER = 9_007_199_254_740_993n

/** The one day row of `/tokens`, with `by_model` and `by_user`, in pieces. Linear in the people. */
export function* tokenRow(organisation: Organisation, totals: DayTotals): Generator<string> {
  const { workDay, spend } = totals
  const surplus = surplusOf(organisation, totals)
  const row = dayRow(workDay, [
    ['billable_tokens', hundredths(spend.billable)],
    ['input_tokens', integer(spend.input, surplus?.tokens)],
    ['output_tokens', String(spend.output)],
    ['cache_read_tokens', String(totals.cacheRead)],
    ...newFields(workDay, [['cache_write_tokens', String(totals.cacheWrite)]]),
    ['by_model', array(modelItems(totals, surplus))],
    ['by_user', '[]'],
  ])
  const usersAt = row.indexOf(NO_USERS) + NO_USERS.length - 1
  yield row.slice(0, usersAt)
  yield* userItems(organisation, workDay, surplus)
  yield row.slice(usersAt)
}

const NO_USERS = '"by_user":[]'

/** The rows of `/tokens?group_by=model`: `by_model`, flattened. */
export function tokenRowsByModel(organisation: Organisation, totals: DayTotals): string[] {
  const surplus = surplusOf(organisation, totals)
  return rankedModels(totals).map(([model, sums]) =>
    groupRow(totals.workDay, model.id, tokenFields(sums, surplusFor(model, surplus))),
  )
}

/** Input tokens that one user's first model has on top of what the day's sums say. */
interface Surplus {
  readonly person: Person
  readonly model: Model
  readonly tokens: bigint
}

/**
 * On one day the organisation's `input_tokens` is exactly the huge number. What
 * is missing to it goes to one user's first model, so that parts still add up.
 */
function surplusOf(organisation: Organisation, totals: DayTotals): Surplus | undefined {
  if (!totals.workDay.hasHugeNumber) return undefined
  const [person] = activePeople(organisation, totals.workDay)
  if (person === undefined) return undefined
  const { model } = userDayOf(person, totals.workDay).spends[0]
  return { person, model, tokens: HUGE_NUMBER - BigInt(totals.spend.input) }
}

function surplusFor(model: Model, surplus: Surplus | undefined): bigint | undefined {
  return surplus?.model === model ? surplus.tokens : undefined
}

function modelItems(totals: DayTotals, surplus: Surplus | undefined): string[] {
  return rankedModels(totals).map(([model, sums]) =>
    modelItem(model, sums, surplusFor(model, surplus)),
  )
}

/** The items of an array, each but the first with a comma before it. */
function* userItems(
  organisation: Organisation,
  workDay: WorkDay,
  surplus: Surplus | undefined,
): Generator<string> {
  let before = ''
  for (const person of activePeople(organisation, workDay)) {
    const user = userDayOf(person, workDay)
    const own = surplus?.person === person ? surplus : undefined
    const item = object([
      ['user_id', quote(person.id)],
      ['user_email', emailJsonOn(person, workDay.offset)],
      ['billable_tokens', hundredths(billableOf(user))],
      [
        'by_model',
        array(
          user.spends.map((spend) => modelItem(spend.model, spend, surplusFor(spend.model, own))),
        ),
      ],
    ])
    yield before + item
    before = ','
  }
}

function modelItem(model: Model, sums: ModelSums, surplus: bigint | undefined): string {
  return object([
    ['model_id', quote(model.id)],
    ['model_tier', quote(model.tier)],
    ...tokenFields(sums, surplus),
  ])
}

function tokenFields(sums: ModelSums, surplus: bigint | undefined): Field[] {
  return [
    ['billable_tokens', hundredths(sums.billable)],
    ['input_tokens', integer(sums.input, surplus)],
    ['output_tokens', String(sums.output)],
  ]
}

function newFields(workDay: WorkDay, fields: readonly Field[]): readonly Field[] {
  return workDay.hasNewFields ? fields : []
}

function rankedModels(totals: DayTotals): (readonly [Model, ModelSums])[] {
  return [...totals.models].sort(
    ([a, sumsA], [b, sumsB]) => sumsB.billable - sumsA.billable || (a.id < b.id ? -1 : 1),
  )
}

function integer(value: number, surplus: bigint | undefined): string {
  return surplus === undefined ? String(value) : String(BigInt(value) + surplus)
}
