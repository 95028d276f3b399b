import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { literal } from '../../src/lib/duckdb.ts'
import { rowsOf } from './alone.ts'

const LAST_DAY = '2026-03-31'

/** A user's e-mail address as served on a day. */
type Sighting = readonly [day: string, email: string | null]

/** A line of `seeds/teams.csv`. */
type Line = readonly [user: string, team: string, from: string, org?: string]

interface Served {
  readonly users?: readonly Sighting[]
  readonly tokens?: readonly Sighting[]
  readonly teams?: readonly Line[]
  /** Whether the last day is answered without rows. @default false */
  readonly isLastDayEmpty?: boolean
}

/** The periods of the only user, `u1` of `org`: e-mail, team, first day, first day after. */
async function periods({ users = [], tokens = [], teams = [], isLastDayEmpty = false }: Served) {
  const emails = await rowsOf('int_user_emails_changed', {
    fct_user_day: sightings(users),
    'intermediate.int_user_months': months(users),
    'staging.stg_platform__tokens_users': sightings(tokens),
    'intermediate.int_account_months': months(tokens),
  })
  const rows = await rowsOf(
    'dim_user_history',
    {
      'intermediate.int_user_emails_changed': values(
        'org_id, user_id, valid_from, user_email',
        emails.map((row) => [row['org_id'], row['user_id'], row['valid_from'], row['user_email']]),
        ['string', 'string', 'date', 'string'],
      ),
      'intermediate.int_user_day_versions': `select 'org' as org_id, date '2026-01-14' as activity_date`,
      fct_org_day: `select 'org' as org_id, date ${literal(LAST_DAY)} as activity_date
        where not ${isLastDayEmpty}`,
      'staging.stg_platform__intervals': `select 'org' as org_id, 'users' as resource,
        date ${literal(LAST_DAY)} as activity_date, 'empty' as status where ${isLastDayEmpty}`,
      'seeds.teams': values(
        'org_id, "user", team, cost_centre, valid_from',
        teams.map(([user, team, from, org = null]) => [org, user, team, `cc ${team}`, from]),
        ['string', 'string', 'string', 'string', 'date'],
      ),
    },
    'valid_from',
  )
  expect(rows.map((row) => row['is_current'])).toEqual([...rows.slice(1).map(() => false), true])
  return rows.map((row) => {
    const team = row['team']
    expect(row['cost_centre']).toBe(typeof team === 'string' ? `cc ${team}` : null)
    return [row['user_email'], team, row['valid_from'], row['valid_to']]
  })
}

function sightings(served: readonly Sighting[]): string {
  return values(
    'org_id, user_id, activity_date, user_email',
    served.map(([day, email]) => ['org', 'u1', day, email]),
    ['string', 'string', 'date', 'string'],
  )
}

function months(served: readonly Sighting[]): string {
  return `select org_id, date_trunc('month', activity_date) as month_start_date, user_id, user_email,
    min(activity_date) as first_date, max(activity_date) as last_date
    from (${sightings(served)}) group by all`
}

function values(
  columns: string,
  rows: readonly (readonly unknown[])[],
  types: readonly string[],
): string {
  const none = types.map((type) => `cast(null as ${type})`).join(', ')
  const lines = rows.map((row) => {
    const cells = row.map((cell, index) => {
      const text = typeof cell === 'string' ? literal(cell) : 'null'
      return `cast(${text} as ${types[index] ?? ''})`
    })
    return `(${cells.join(', ')})`
  })
  const all = lines.length === 0 ? `(${none})` : lines.join(', ')
  return `from (values ${all}) as made (${columns}) ${lines.length === 0 ? 'where false' : ''}`
}

const [A, B] = ['a@x.example', 'b@x.example']
const ALWAYS: Served = { users: [['2026-02-01', A]] }

describe('the periods of a user are right for one', () => {
  it.each<[what: string, served: Served, expected: readonly unknown[]]>([
    ['who is never renamed', ALWAYS, [[A, null, '2026-02-01', null]]],
    [
      'who has no e-mail address',
      { users: [['2026-02-01', null]], tokens: [['2026-02-02', null]] },
      [[null, null, '2026-02-01', null]],
    ],
    [
      'whose address is sent late',
      {
        users: [
          ['2026-02-01', null],
          ['2026-02-03', A],
          ['2026-02-05', null],
        ],
      },
      [
        [null, null, '2026-02-01', '2026-02-03'],
        [A, null, '2026-02-03', null],
      ],
    ],
    [
      'who is renamed',
      {
        users: [
          ['2026-02-01', A],
          ['2026-02-02', null],
          ['2026-02-03', A],
          ['2026-02-05', B],
          ['2026-02-06', B],
        ],
      },
      [
        [A, null, '2026-02-01', '2026-02-05'],
        [B, null, '2026-02-05', null],
      ],
    ],
    [
      'who is renamed and renamed back',
      {
        users: [
          ['2026-01-31', null],
          ['2026-02-01', A],
          ['2026-02-03', B],
          ['2026-02-05', A],
        ],
      },
      [
        [null, null, '2026-01-31', '2026-02-01'],
        [A, null, '2026-02-01', '2026-02-03'],
        [B, null, '2026-02-03', '2026-02-05'],
        [A, null, '2026-02-05', null],
      ],
    ],
    [
      'whose address differs between the two endpoints on one day',
      {
        users: [['2026-02-02', B]],
        tokens: [
          ['2026-02-01', A],
          ['2026-02-02', A],
        ],
      },
      [
        [A, null, '2026-02-01', '2026-02-02'],
        [B, null, '2026-02-02', null],
      ],
    ],
    [
      'whose team is listed under the id',
      { ...ALWAYS, teams: [['u1', 'red', '2026-01-01']] },
      [[A, 'red', '2026-02-01', null]],
    ],
    [
      'whose team is listed under the address in another case',
      { ...ALWAYS, teams: [['A@X.example', 'red', '2026-02-01']] },
      [[A, 'red', '2026-02-01', null]],
    ],
    [
      'who changes teams',
      {
        ...ALWAYS,
        teams: [
          [A, 'red', '2026-01-01'],
          ['u1', 'blue', '2026-02-10'],
          [A, 'blue', '2026-02-20'],
          [A, 'green', '2026-03-01'],
        ],
      },
      [
        [A, 'red', '2026-02-01', '2026-02-10'],
        [A, 'blue', '2026-02-10', '2026-03-01'],
        [A, 'green', '2026-03-01', null],
      ],
    ],
    [
      'who joins a team after the first day, and another after the last one known',
      {
        ...ALWAYS,
        teams: [
          [A, 'red', '2026-02-10'],
          [A, 'blue', '2026-04-01'],
        ],
      },
      [
        [A, null, '2026-02-01', '2026-02-10'],
        [A, 'red', '2026-02-10', null],
      ],
    ],
    [
      'who joins a team on a last day without use',
      { ...ALWAYS, teams: [[A, 'red', LAST_DAY]], isLastDayEmpty: true },
      [
        [A, null, '2026-02-01', LAST_DAY],
        [A, 'red', LAST_DAY, null],
      ],
    ],
    [
      'who keeps the team of an earlier address',
      {
        users: [
          ['2026-02-01', A],
          ['2026-02-05', B],
        ],
        teams: [[A, 'red', '2026-01-01']],
      },
      [
        [A, 'red', '2026-02-01', '2026-02-05'],
        [B, 'red', '2026-02-05', null],
      ],
    ],
    [
      'who has a team under each of two addresses',
      {
        users: [
          ['2026-02-01', A],
          ['2026-02-05', B],
        ],
        teams: [
          [A, 'red', '2026-01-01'],
          [B, 'blue', '2026-01-01'],
        ],
      },
      [
        [A, 'red', '2026-02-01', '2026-02-05'],
        [B, 'blue', '2026-02-05', null],
      ],
    ],
    [
      'with a line for the org, which overrides one for all orgs',
      {
        ...ALWAYS,
        teams: [
          [A, 'red', '2026-01-01'],
          [A, 'blue', '2026-01-01', 'org'],
          [A, 'green', '2026-02-10', 'elsewhere'],
        ],
      },
      [[A, 'blue', '2026-02-01', null]],
    ],
    [
      'who joins a team on the last day, and another team later',
      {
        ...ALWAYS,
        teams: [
          [A, 'red', LAST_DAY],
          [A, 'blue', '2026-04-01'],
        ],
      },
      [
        [A, null, '2026-02-01', LAST_DAY],
        [A, 'red', LAST_DAY, null],
      ],
    ],
  ])('%s', async (_, served, expected) => {
    expect(await periods(served)).toEqual(expected)
  })
})

/** Days of two months, so that a month ends between two sightings. */
const DAYS = ['01-29', '01-30', '01-31', '02-01', '02-02', '02-03'].map((day) => `2026-${day}`)

const sightingsOnSomeDays = fc
  .tuple(...DAYS.map(() => fc.constantFrom(undefined, null, A, B)))
  .map((emails) =>
    emails.flatMap((email, place): Sighting[] =>
      email === undefined ? [] : [[DAYS[place] ?? '', email]],
    ),
  )

/** Day by day: the address of `/users` if there is one, else of `/tokens`, until the next one. */
function expectedPeriods(users: readonly Sighting[], tokens: readonly Sighting[]) {
  const found: (readonly [email: string | null, from: string])[] = []
  for (const day of DAYS) {
    const seen = [...users, ...tokens].filter(([each]) => each === day)
    if (seen.length === 0) continue
    const email = seen.find(([, address]) => address !== null)?.[1] ?? null
    const last = found.at(-1)
    if (last === undefined || (email !== null && email !== last[0])) found.push([email, day])
  }
  return found.map(([email, from], place) => [email, null, from, found[place + 1]?.[1] ?? null])
}

it('the periods of a user equal those computed day by day', async () => {
  await fc.assert(
    fc.asyncProperty(sightingsOnSomeDays, sightingsOnSomeDays, async (users, tokens) => {
      fc.pre(users.length + tokens.length > 0)
      expect(await periods({ users, tokens })).toEqual(expectedPeriods(users, tokens))
    }),
    { numRuns: 100 },
  )
})
