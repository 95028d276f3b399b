import { describe, expect, it } from 'vitest'
import type { Row } from '../../src/lib/duckdb.ts'
import { listModels } from '../../src/model/project/compile.ts'
import type { ModelNode } from '../../src/model/project/types.ts'
import { project, rowsOf } from './alone.ts'

/** Both sides of one check on one day; NULL where one was not served. */
type Side = readonly [expected: number | null, actual: number | null]

const SIDES = 'int_reconciliation_sides'
const DAYS = 40
const WHOLE: Side = [1000, 1000]

/** The status of each day, from the model's own SQL over the sides given. */
async function statuses(sides: readonly Side[], day = 1): Promise<unknown[]> {
  const rows = sides.map(([expected, actual], index) => {
    const difference = expected === null || actual === null ? null : actual - expected
    const values = [expected, actual, difference].map((value) => `cast(${value} as double)`)
    return `('check', 'org', date '2026-02-01' + ${index * day}, 'equal', ${values.join(', ')})`
  })
  const found = await rowsOf(
    'fct_reconciliation',
    {
      'intermediate.int_reconciliation_sides': `from (values ${rows.join(', ')})
        as sides (check_name, org_id, activity_date, comparison, expected, actual, difference)`,
    },
    'activity_date',
  )
  return found.map((row) => row['status'])
}

function history(side: Side, days = DAYS): Side[] {
  return Array.from({ length: days }, () => side)
}

describe('the status of a difference', () => {
  it.each<[what: string, before: readonly Side[], today: Side, status: string]>([
    ['of zero', history(WHOLE), WHOLE, 'ok'],
    ['of zero after differences', history([1000, 900]), WHOLE, 'ok'],
    ['after days without one', history(WHOLE), [1000, 999], 'changed'],
    ['on the first day', [], [1000, 900], 'baseline'],
    ['of the usual size', history([1000, 900]), [1000, 900], 'baseline'],
    ['of the usual share of a smaller day', history([1000, 900]), [50, 45], 'baseline'],
    ['within a hundredth of the usual one', history([1000, 900]), [1000, 909], 'baseline'],
    ['larger than usual', history([1000, 900]), [1000, 850], 'changed'],
    ['smaller than usual', history([1000, 900]), [1000, 950], 'changed'],
    ['above the total instead of below', history([1000, 900]), [900, 1000], 'changed'],
    [
      'within its usual variation',
      history(WHOLE).map((_, day) => [1000, 900 + 20 * (day % 3)] as const),
      [1000, 880],
      'baseline',
    ],
    ['without its actual side', history(WHOLE), [1000, null], 'missing'],
    ['without its expected side', history(WHOLE), [null, 1000], 'missing'],
    ['after days without one side', history([1000, null]), [1000, 900], 'baseline'],
  ])('%s', async (_, before, today, status) => {
    expect((await statuses([...before, today])).at(-1)).toBe(status)
  })

  it('becomes baseline once the difference has lasted for most of 28 days', async () => {
    const found = await statuses([...history(WHOLE), ...history([1000, 900], 28)])
    expect(found.slice(DAYS, DAYS + 14)).toEqual(Array(14).fill('changed'))
    expect(found.at(-1)).toBe('baseline')
  })

  it('depends on the last 28 days, however many of them were served', async () => {
    const sides: readonly Side[] = [
      [1000, 900],
      [1000, 800],
    ]
    expect(await statuses(sides, 28)).toEqual(['baseline', 'changed'])
    expect(await statuses(sides, 29)).toEqual(['baseline', 'baseline'])
  })
})

/** The known columns of relations on one day, as SQL. */
type Served = Readonly<Record<string, Readonly<Record<string, string>>>>

describe('the sides of the check', () => {
  it.each<[check: string, served: Served, expected: Readonly<Record<string, number | null>>]>([
    [
      'by_model_billable_tokens',
      {
        stg_platform__tokens_days: { billable_tokens: '9007199254740993' },
        int_token_part_totals: { models_billable_tokens: '9007199254740992' },
      },
      { difference: -1 },
    ],
    [
      'by_tool_invocations',
      { stg_platform__tools_days: { tool_calls: '0' } },
      { actual: 0, difference: 0 },
    ],
    [
      'by_tool_invocations',
      { stg_platform__tools_days: { tool_calls: '3' } },
      { actual: null, difference: null },
    ],
    [
      'users_mcp_calls',
      { int_user_day_totals: { mcp_calls: '0' } },
      { expected: 0, difference: 0 },
    ],
    ['clients_largest', clients({ daily: 5, client: 4 }), { difference: 0 }],
    ['clients_largest', clients({ daily: 5, client: 7 }), { difference: 2 }],
    ['clients_sum', clients({ daily: 5, client: 9 }), { difference: 0 }],
    ['clients_sum', clients({ daily: 5, client: 3 }), { difference: -2 }],
    ['clients_sum', clients({ daily: 5, client: 'unnest([3, null])' }), { actual: null }],
    ['clients_largest', clients({ daily: 5, client: 'unnest([7, null])' }), { difference: 2 }],
    ['daily_active_users', active({ daily: 6, weekly: 5 }), { difference: 1 }],
    ['weekly_active_users', active({ weekly: 5, monthly: 5 }), { difference: 0 }],
    [
      'autonomy_level_shares',
      { stg_platform__tools_autonomy_levels: { share: '0.999' } },
      { expected: 1, difference: 0 },
    ],
    [
      'autonomy_level_shares',
      { stg_platform__tools_autonomy_levels: { share: '1.5' } },
      { difference: 0.5 },
    ],
    ['unparsed_tool_calls_28d', unparsed(10), { expected: 0.00006, difference: 0 }],
    ['unparsed_tool_calls_28d', unparsed(30), { difference: 0.0003 - 0.00006 }],
  ])('%s of %j', async (check, served, expected) => {
    const rows = await sides(served)
    expect(rows.filter((row) => row['check_name'] === check)).toMatchObject([expected])
  })

  it.each([
    ['2026-02-28', 30 / 100_030],
    ['2026-03-01', 0],
  ])('on %s count the unnamed calls of 28 days', async (day, actual) => {
    const [tool_name, invocations] = ["unnest(['(unparsed)', 'Read'])", 'unnest([30, 100000])']
    const activity_date = `unnest([date '2026-02-01', date '${day}'])`
    const rows = await sides({ fct_tool_day: { activity_date, tool_name, invocations } })
    expect(rows.filter((row) => row['activity_date'] === day)).toMatchObject([{ actual }])
  })

  it('are absent when neither side is served', async () => {
    const served = Object.fromEntries(SOURCES.map((name) => [name, {}]))
    expect(await sides(served)).toEqual([])
  })
})

function clients({ daily, client }: { daily: number; client: number | string }): Served {
  return { ...active({ daily }), fct_client_day: { daily_active_users: String(client) } }
}

function active(users: Readonly<Record<string, number>>): Served {
  const known = Object.entries(users).map(
    ([of, count]) => [`${of}_active_users`, String(count)] as const,
  )
  return { stg_platform__activity_days: Object.fromEntries(known) }
}

/** 100,000 tool calls, of which so many name no tool. */
function unparsed(calls: number): Served {
  const invocations = `unnest([${calls}, ${100_000 - calls}])`
  return { fct_tool_day: { tool_name: "unnest(['(unparsed)', 'Read'])", invocations } }
}

const SOURCES = listModels(project).find(({ name }) => name === SIDES)?.dependsOn ?? []

/** The sides of one day with only these served. */
function sides(served: Served): Promise<Row[]> {
  const nodes = listModels(project).filter(({ name }) => SOURCES.includes(name))
  const relations = nodes.map((node) => [node.relation, oneDay(node, served[node.name])] as const)
  return rowsOf(SIDES, Object.fromEntries(relations))
}

function oneDay({ columns }: ModelNode, known: Served[string] | undefined): string {
  const metrics = columns.slice(2).map(({ name }) => {
    const type = name === 'share' ? 'double' : name.endsWith('_name') ? 'string' : 'bigint'
    return `cast(${known?.[name] ?? 'null'} as ${type}) as ${name}`
  })
  const day = known?.['activity_date'] ?? "date '2026-02-01'"
  return `select 'org' as org_id, ${day} as activity_date, ${metrics.join(', ')}
    ${known === undefined ? 'where false' : ''}`
}
