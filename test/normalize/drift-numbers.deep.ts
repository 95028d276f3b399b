import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addDays, parseDay } from '../../src/lib/days.ts'
import { DOCUMENTED } from './documented-rows.ts'
import { Lake } from '../support/lake.ts'

const DAY = '2026-01-14'
const LATER = '2026-04-01T03:00:00Z'
const LARGEST = '9223372036854775807'

const FINDINGS =
  'select path, kind, expected, occurrences from {schema_drift} where path is not null order by 1'

/** A day of /tokens with these users, JSON text. */
function tokensOf(...users: readonly string[]): string {
  const day = JSON.stringify({ ...DOCUMENTED.tokens, by_user: 'users' })
  return day.replace('"users"', `[${users.join(',')}]`)
}

async function landed(...items: readonly string[]): Promise<Lake> {
  const lake = await Lake.open()
  await lake.land('tokens', DAY, LATER, items)
  await lake.normalize()
  return lake
}

describe('repeated entries of a user and model on a day', () => {
  it('whose sum does not fit are NULL and reported', async () => {
    const model = (id: string, input: string) =>
      `{"model_id":"${id}","billable_tokens":1,"input_tokens":${input},"output_tokens":1}`
    const user = (id: string, input: string, models: string) =>
      `{"user_id":"${id}","billable_tokens":1,"input_tokens":${input},"by_model":[${models}]}`
    const lake = await landed(
      tokensOf(
        user('u', LARGEST, model('m', LARGEST)),
        user('u', '1', `${model('n', '3')},${model('m', '1.0e0')}`),
        user('v', LARGEST, ''),
      ),
    )
    expect(
      await lake.rows(
        'select user_id, input_tokens, billable_tokens from {tokens_users} order by 1',
      ),
    ).toEqual([
      { user_id: 'u', input_tokens: null, billable_tokens: '2.000000' },
      { user_id: 'v', input_tokens: LARGEST, billable_tokens: '1.000000' },
    ])
    expect(
      await lake.rows('select model_id, input_tokens from {tokens_user_models} order by 1'),
    ).toEqual([
      { model_id: 'm', input_tokens: null },
      { model_id: 'n', input_tokens: '3' },
    ])
    const overflow = { kind: 'overflow', expected: 'integer', occurrences: '1' }
    expect(await lake.rows(FINDINGS)).toEqual([
      { path: '$.by_user[].by_model[].input_tokens', ...overflow },
      { path: '$.by_user[].input_tokens', ...overflow },
    ])
    expect(lake.events).toContainEqual({
      type: 'warning',
      about: 'drift',
      kind: 'overflow',
      message: `org/1: $.by_user[].input_tokens of tokens adds up to more than a BIGINT can hold, and is NULL: repeated entries since ${DAY}, 1 day`,
    })
  })

  it('that are reported do not hide other findings', async () => {
    const huge = `{"user_id":"u","billable_tokens":1,"output_tokens":${LARGEST},"by_model":[]}`
    const lake = await landed(tokensOf(huge, huge, '{"user_id":"v","usd":1}'))
    expect((await lake.rows(FINDINGS)).map(({ path, kind }) => [path, kind])).toEqual([
      ['$.by_user[].output_tokens', 'overflow'],
      ['$.by_user[].usd', 'unknown'],
    ])
  })

  it('have a sum for any credits', async () => {
    const most = '9999999999999999999999.999999'
    const models = `{"model_id":"m","billable_tokens":${most}}`
    const user = `{"user_id":"u","billable_tokens":${most},"by_model":[${models},${models}]}`
    const lake = await landed(tokensOf(user, user))
    expect(await lake.rows('select billable_tokens from {tokens_users}')).toEqual([
      { billable_tokens: '19999999999999999999999.999998' },
    ])
    expect(await lake.rows('select billable_tokens from {tokens_user_models}')).toEqual([
      { billable_tokens: '39999999999999999999999.999996' },
    ])
    expect(await lake.rows(FINDINGS)).toEqual([])
  })
})

/** The number in units of 10^-25, exactly. */
function units(spelling: string): bigint {
  const [whole = '', fraction = ''] = spelling.split('.')
  return BigInt(whole + fraction.padEnd(25, '0'))
}

const SIXTH_DIGIT = 10n ** 19n

/** The expected finding: none for six fraction digits, `rounded` for more. */
function kindOf(spelling: string): string | null {
  return units(spelling) % SIXTH_DIGIT === 0n ? null : 'rounded'
}

/** Credits as served, and the expected finding. */
const EXAMPLES: readonly (readonly [string, string | null])[] = [
  ['12.00000000000000001', 'rounded'],
  ['11.99999999999999999', 'rounded'],
  ['12345678901.00000000000000001', 'rounded'],
  ['999999999.12345605', 'rounded'],
  ['12.00000000000000000', null],
  ['12.0000001', 'rounded'],
  ['37500000.0000000155', 'rounded'],
  ['89753439.1195050105', 'rounded'],
  ['1234567.0000001', 'rounded'],
  ['12345.666666666666', 'rounded'],
  ['99999999999999999999999', 'unreadable'],
]

describe('credits', () => {
  const digits = (max: number) =>
    fc
      .array(fc.constantFrom('0', '0', '9', '9', '1', '5'), { maxLength: max })
      .map((d) => d.join(''))
  const spelling = fc
    .tuple(fc.integer({ min: 0, max: 999_999_999 }), digits(6), digits(19))
    .map(([whole, near, far]) => `${whole}.${near.padEnd(6, '0')}${far}`)

  it('of up to 15 digits are read exactly, wherever their decimal point is', async () => {
    const digits = '987654321987654'
    const credits = Array.from({ length: 14 }, (_, at) => {
      const fraction = digits.slice(at + 1, at + 7)
      return [`${digits.slice(0, at + 1)}.${fraction}`, fraction.padEnd(6, '0')] as const
    })
    const lake = await Lake.open()
    for (const [index, [text]] of credits.entries()) {
      const item = JSON.stringify(DOCUMENTED.users).replace(
        /"billable_tokens":\d+/,
        `"billable_tokens" : ${text}`,
      )
      await lake.land('users', addDays(parseDay(DAY, 'the day'), index), LATER, [item])
    }
    await lake.normalize()
    expect(await lake.rows('select billable_tokens from {users} order by activity_date')).toEqual(
      credits.map(([text, fraction]) => ({
        billable_tokens: `${text.slice(0, text.indexOf('.'))}.${fraction}`,
      })),
    )
    expect(await lake.rows(FINDINGS)).toEqual([])
  })

  it('with more than six fraction digits are reported, however close they are to six', async () => {
    const count = 60
    await fc.assert(
      fc.asyncProperty(
        fc.array(spelling, { minLength: count, maxLength: count }),
        async (drawn) => {
          const lake = await Lake.open()
          const first = parseDay(DAY, 'the day')
          const expected = [...EXAMPLES, ...drawn.map((text) => [text, kindOf(text)])]
          for (const [index, [text]] of expected.entries()) {
            const item = JSON.stringify(DOCUMENTED.users).replace(
              /"billable_tokens":\d+/,
              `"billable_tokens":${text}`,
            )
            await lake.land('users', addDays(first, index), LATER, [item])
          }
          await lake.normalize()
          const found = await lake.rows('select kind from {schema_drift} order by activity_date')
          expect(found.map(({ kind }, at) => [expected[at]?.[0], kind])).toEqual(expected)
        },
      ),
      { numRuns: 3, endOnFailure: true },
    )
  })
})
