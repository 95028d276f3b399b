import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { Database } from '../../../src/lib/duckdb.ts'
import { statement } from '../../../src/lib/package.ts'
import { RANGES } from '../../../src/serve/report/view.ts'

const MOST_DAYS = 735

/** A person who was active in a team, so many days before the last one. */
interface Activity {
  readonly user: number
  readonly team: string
  readonly back: number
}

/** Days of each part that periods have in common, and two of one week. */
const BACK = [0, 3, 30, 60, 100, 200, 370, 400, 470, 600]

/** People who are mostly active in their own team: two of them are small, or nearly so. */
const activities = fc
  .uniqueArray(
    fc.record({
      user: fc.nat(17),
      back: fc.constantFrom(...BACK),
      other: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { freq: 9 }),
    }),
    { selector: ({ user, back }) => `${user} ${back}`, minLength: 5, maxLength: 90 },
  )
  .map((all) => all.map(({ user, back, other }) => ({ user, back, team: other ?? teamOf(user) })))

/** Many at once share a database. Shrinking them would take minutes. */
const many = fc.noShrink(fc.array(activities, { minLength: 20, maxLength: 30 }))

function teamOf(user: number): string {
  if (user < 3) return 'a'
  if (user < 6) return 'b'
  return user < 11 ? 'c' : 'd'
}

const shownPeriods = z.array(
  z.object({
    org_id: z.string(),
    days: z.number(),
    period: z.string(),
    team: z.string().nullable(),
  }),
)
const shownWeeks = z.array(
  z.object({
    org_id: z.string(),
    week: z.string(),
    team: z.string(),
    active_users: z.coerce.number(),
  }),
)
const labelled = z.array(
  z.object({
    org_id: z.string(),
    user: z.coerce.number(),
    back: z.coerce.number(),
    label: z.string(),
  }),
)

/** What a report shows of the teams of organisations, and the name that each activity has in it. */
async function reportOf(organisations: readonly (readonly Activity[])[]) {
  await using database = await Database.open(':memory:')
  const rows = organisations.flatMap((all, at) =>
    all.map(({ user, team, back }) => `('${at}', '${user}', '${team}', ${back})`),
  )
  const measures = `1 as billable_tokens, 1 as tool_calls, 1 as user_messages, 1 as sessions,
    1 as files_created, 1 as files_edited, 1 as git_commits, 1 as git_prs_created`
  await database.run(`create table chosen as
    select cast(org as varchar) as org_id, date '2028-06-30' - ${MOST_DAYS} as first_day,
      date '2028-06-30' as last_day, date '2028-07-02' as data_through
      from range(${organisations.length}) as organisations (org);
    create table activities (org_id varchar, user_id varchar, team varchar, back integer);
    insert into activities values ${rows.join()};
    create table fct_user_day as
      select org_id, last_day - back as activity_date, user_id, true as is_active, ${measures}
      from activities inner join chosen using (org_id);
    create table dim_user_history as
      select org_id, user_id, team, last_day - back as valid_from, valid_from + 1 as valid_to
      from activities inner join chosen using (org_id);
    create table org_days as
      select org_id, true as is_users_known, last_day - cast(back as integer) as activity_date, ${measures}
      from range(${MOST_DAYS}) as days (back), chosen;
    create table whole_weeks as
      select distinct org_id, cast(date_trunc('week', activity_date) as date) as week_start_date
      from org_days inner join chosen using (org_id)
      where date_trunc('week', activity_date) >= first_day`)
  const ranges = JSON.stringify(RANGES.map(([days]) => days))
  await database.rows(statement('report/ranges'), { ranges })
  await database.run(statement('report/hides'))
  await database.run(statement('report/user_days'))
  const periods = shownPeriods.parse(await database.rows(statement('report/periods')))
  const weeks = shownWeeks.parse(await database.rows(statement('report/team_weeks')))
  const labels = labelled.parse(
    await database.rows(`select org_id, cast(user_id as integer) as user,
      date '2028-06-30' - activity_date as back, team as label from user_days`),
  )
  return organisations.map((all, at) => {
    const isOwn = ({ org_id }: { readonly org_id: string }) => org_id === String(at)
    return {
      all,
      ...{ periods: periods.filter(isOwn), weeks: weeks.filter(isOwn) },
      labels: labels.filter(isOwn),
    }
  })
}

/** The days before the last one at which a period begins and ends. */
function spanOf({ days, period }: { readonly days: number; readonly period: string }) {
  const back = period === 'year' ? 364 : period === 'previous' ? days : 0
  return { from: back, to: back + days }
}

function isIn({ back }: { readonly back: number }, span: ReturnType<typeof spanOf>): boolean {
  return back >= span.from && back < span.to
}

/** A figure is the sum of what is 1 in a vector: all activities of a team on a day in common. */
type Vector = readonly number[]

/** Whether a vector is a sum of multiples of others: Gauss's elimination. */
function isDerivable(target: Vector, known: readonly Vector[]): boolean {
  const pivots: { readonly at: number; readonly row: Vector }[] = []
  const reduced = (vector: Vector): Vector =>
    pivots.reduce((left, { at, row }) => {
      const times = left[at] ?? 0
      return times === 0 ? left : left.map((value, i) => value - times * (row[i] ?? 0))
    }, vector)
  for (const vector of known) {
    const left = reduced(vector)
    const at = left.findIndex((value) => Math.abs(value) > 1e-9)
    const first = left[at]
    if (first !== undefined) pivots.push({ at, row: left.map((value) => value / first) })
  }
  return reduced(target).every((value) => Math.abs(value) < 1e-9)
}

function peopleOf(all: readonly { readonly user: number }[]): number {
  return new Set(all.map(({ user }) => user)).size
}

const TEAM_SETS = [...['a', 'b', 'c', 'd', 'ab', 'ac', 'ad', 'bc', 'bd', 'cd'], 'abc', 'abd']
const SPANS = [
  ...RANGES.flatMap(([days]) =>
    ['current', 'previous', 'year'].map((period) => spanOf({ days, period })),
  ),
  ...[28, 56, 91, 182, 364, 392, 455, 546, 728].map((to, at, ends) => ({
    from: ends[at - 1] ?? 0,
    to,
  })),
]

type Shown = Awaited<ReturnType<typeof reportOf>>[number]

/** Teams whose figures of fewer than five people are differences of what is shown. */
function derivable({ all, periods, labels }: Shown): string[] {
  const labelOf = new Map(labels.map(({ user, back, label }) => [`${user} ${back}`, label]))
  const keys = [...new Set(all.map(({ team, back }) => `${team} ${back}`))]
  const vectorOf = (own: readonly Activity[]): Vector => {
    const ones = new Set(own.map(({ team, back }) => `${team} ${back}`))
    return keys.map((key) => (ones.has(key) ? 1 : 0))
  }
  const known = periods.map((row) => {
    const isOfRow = ({ user, back }: Activity) =>
      row.team === null || labelOf.get(`${user} ${back}`) === row.team
    return vectorOf(all.filter((each) => isIn(each, spanOf(row)) && isOfRow(each)))
  })
  const totals = known.filter((_, at) => periods[at]?.team === null)
  return SPANS.flatMap((span) =>
    TEAM_SETS.flatMap((teams) => {
      const own = all.filter((each) => isIn(each, span) && teams.includes(each.team))
      const people = peopleOf(own)
      if (people === 0 || people >= 5) return []
      const target = vectorOf(own)
      // Where nobody else was active, it is the organisation's own figure.
      if (isDerivable(target, totals) || !isDerivable(target, known)) return []
      return [`${teams}, ${span.from} to ${span.to} days before`]
    }),
  )
}

/** Weeks that show a few people, or whose teams that are not shown are a few people. */
function revealing({ weeks, labels }: Shown): string[] {
  return [...new Set(labels.map(({ back }) => weekOf(back)))].filter((week) => {
    const shown = weeks.filter((row) => row.week === week)
    const hidden = labels.filter(
      ({ back, label }) => weekOf(back) === week && !shown.some(({ team }) => team === label),
    )
    const isFew = (people: number): boolean => people > 0 && people < 5
    return (
      shown.some((row) => isFew(row.active_users)) || (shown.length > 0 && isFew(peopleOf(hidden)))
    )
  })
}

/** The Monday of the week. */
function weekOf(back: number): string {
  const day = new Date(Date.UTC(2028, 5, 30 - back))
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  return day.toISOString().slice(0, 10)
}

it('no figure of fewer than five people of a team can be computed from the figures that are shown', async () => {
  await fc.assert(
    fc.asyncProperty(many, async (all) => {
      const shown = await reportOf(all)
      expect(shown.flatMap(derivable)).toEqual([])
      expect(shown.flatMap(revealing)).toEqual([])
    }),
    { numRuns: 5 },
  )
})
