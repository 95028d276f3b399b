import { describe, expect, it } from 'vitest'
import { testServer } from '../support/helpers.ts'
import { csvOf, limitsOf, people } from './limits-stage.ts'
import { linesOf, stage, type Stage } from './platform-stage.ts'

const GLOBAL = '/api/v0/organization/usage/limits/global'

/** A platform that serves these limits and reports that it set those of `a@b.test`. */
function serving(limits: string): Promise<Stage> {
  const result = '{"updated":[{"email":"a@b.test"}],"errors":[]}'
  const intercept = ({ method }: { readonly method: string }): Promise<Response> =>
    Promise.resolve(new Response(method === 'PUT' ? result : limits))
  return stage({ intercept })
}

describe('limits', () => {
  it('list prints the global limit and the limits of users', async () => {
    const platform = await stage()
    const { code, out } = await platform.run(['limits', 'list'])
    expect(code).toBe(0)
    expect(linesOf(out)[0]).toBe(
      'Global limit: 5,000,000 credits for each user who has no limit of their own',
    )
    expect(out).toMatch(/^\S+@acme\.example +\| 20000000$/m)
    expect((await limitsOf(platform)).userLimits).toHaveLength(3)
  })

  it('set and set-global say which limit the platform set, where it is another one', async () => {
    const answer = { limit: 3_000_000, updated: [{ email: 'a@b.test', limit: 3_000_000 }] }
    const { run } = await stage({
      intercept: ({ method }) =>
        method === 'PUT' ? Promise.resolve(Response.json(answer)) : undefined,
    })
    const user = await run(['limits', 'set', 'a@b.test', '9000000', '--yes', '--json'])
    const error = 'the platform set 3,000,000'
    expect(user.code).toBe(3)
    expect(JSON.parse(user.out)).toMatchObject({ failed: 1, users: [{ result: 'failed', error }] })
    const global = await run(['limits', 'set-global', '9000000', '--yes'])
    expect(global.code).toBe(3)
    expect(global.out).toBe(`the global limit: 5,000,000 → 9,000,000, failed: ${error}\n`)
    const json = await run(['limits', 'set-global', '9000000', '--yes', '--json'])
    expect(JSON.parse(json.out)).toMatchObject({ limit: 9_000_000, result: 'failed', error })
  })

  it.each([
    ['set', ['set', 'a@b.test']],
    ['set-global', ['set-global']],
  ])('%s compares every digit with what the platform set', async (_, command) => {
    let limit = '9007199254740992'
    const { run } = await stage({
      intercept: ({ method }) =>
        method === 'PUT'
          ? new Response(`{"limit":${limit},"updated":[{"email":"a@b.test","limit":${limit}}]}`)
          : undefined,
    })
    const args = ['limits', ...command, '9007199254740993', '--yes']
    const rounded = await run(args)
    expect(rounded.code).toBe(3)
    expect(rounded.out).toContain('failed: the platform set 9,007,199,254,740,992')
    limit = '9007199254740993'
    expect((await run(args)).code).toBe(0)
  })

  it('set announces a retry once', async () => {
    let puts = 0
    const { run } = await stage({
      intercept: ({ method }) =>
        method === 'PUT' && (puts += 1) === 1
          ? Response.json({ title: 'Slow' }, { status: 429, headers: { 'retry-after': '1' } })
          : undefined,
    })
    const { code, err } = await run(['limits', 'set-global', '6000000', '--yes'])
    expect(code).toBe(0)
    expect(linesOf(err)).toEqual([expect.stringMatching(/429 Slow.*: retrying in 1\.0s$/)])
  })

  it('list prints every digit of limits beyond 2^53', async () => {
    const limits = `{"globalLimit":9007199254740993,"userLimits":[{"email":"a@b.test","limit":18014398509481985}]}`
    const server = await testServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(limits)
    })
    const { run } = await stage()
    const { code, out } = await run(['limits', 'list'], {
      environment: { AGENT_BASE_URL: server.url },
    })
    expect({ code, first: linesOf(out)[0] }).toEqual({
      code: 0,
      first:
        'Global limit: 9,007,199,254,740,993 credits for each user who has no limit of their own',
    })
    expect(out).toMatch(/^a@b\.test +\| +18014398509481985$/m)
  })

  it.each(['{}', '{"userLimits":null}', '{"userLimits":[null,{"email":null,"limit":5}]}'])(
    'set works where the platform serves %s',
    async (limits) => {
      const { run } = await serving(limits)
      const { code, out } = await run(['limits', 'set', 'a@b.test', '9', '--yes', '--json'])
      expect(code).toBe(0)
      expect(JSON.parse(out)).toMatchObject({ set: 1, users: [{ before: null, limit: 9 }] })
    },
  )

  it('set, set-global and remove show and compare every digit of limits beyond 2^53', async () => {
    const limits = `{"globalLimit":9007199254740993,"userLimits":[{"email":"a@b.test","limit":18014398509481985}]}`
    const { run } = await serving(limits)
    const removed = await run(['limits', 'remove', 'a@b.test', '--yes'])
    expect(removed.out).toMatch(/^a@b\.test +\| 18,014,398,509,481,985 \| none +\| removed$/m)
    const kept = await run(['limits', 'set', 'a@b.test', '18014398509481985', '--yes'])
    expect(kept.out).toBe('1 limit unchanged, not sent\n')
    const global = await run(['limits', 'set-global', '9007199254740993', '--yes', '--json'])
    const limit = '9007199254740993'
    expect(JSON.parse(global.out)).toEqual({ before: limit, limit, result: 'unchanged' })
  })

  it('set asks for a confirmation that says what changes', async () => {
    const platform = await stage()
    const [email = ''] = await people(platform, 1)
    const { code, out, err } = await platform.run(['limits', 'set', email, '7000000'], {
      answers: 'y',
    })
    expect({ code, err }, err).toMatchObject({ code: 0 })
    expect(err).toMatch(new RegExp(`^1 limit of users: ${email} .* → 7,000,000\\. Continue\\?`))
    expect(out).toMatch(/\| 7,000,000 \| set$/m)
    expect((await limitsOf(platform)).userLimits).toContainEqual({ email, limit: 7_000_000 })
  })

  it('set-global changes nothing unless the answer is yes', async () => {
    const { run, changes } = await stage()
    for (const answers of ['', 'n', 'yess']) {
      const result = await run(['limits', 'set-global', '6000000'], { answers })
      expect(result.code).toBe(2)
      expect(result.err).toContain('not confirmed: nothing was changed')
    }
    expect(changes()).toEqual([])
  })

  it('set-global sends an unchanged limit only with --force, and removes it with none', async () => {
    const platform = await stage()
    const set = ['limits', 'set-global', '6000000', '--yes', '--json']
    expect(JSON.parse((await platform.run(set)).out)).toEqual({
      before: 5_000_000,
      limit: 6_000_000,
      result: 'set',
    })
    expect(JSON.parse((await platform.run(set)).out)).toMatchObject({ result: 'unchanged' })
    expect(platform.changes()).toEqual([`PUT ${GLOBAL}`])
    await platform.run([...set, '--force'])
    expect(platform.changes()).toHaveLength(2)
    const { out } = await platform.run(['limits', 'set-global', 'none', '--yes'])
    expect(out).toBe('the global limit: 6,000,000 → none, removed\n')
    expect((await limitsOf(platform)).globalLimit).toBe(null)
  })

  it('remove removes the limits of users, and leaves users without one alone', async () => {
    const platform = await stage()
    const [first, second] = (await limitsOf(platform)).userLimits
    const emails = [first?.email ?? '', second?.email.toUpperCase() ?? '', 'nobody@acme.example']
    const { code, out } = await platform.run(['limits', 'remove', ...emails, '--yes', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ removed: 2, unchanged: 1 })
    expect((await limitsOf(platform)).userLimits).toHaveLength(1)
  })
})

describe('a limit of a user may be any whole number', () => {
  it.each([
    ['0', 0],
    ['1', 1],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('%s is accepted as an argument and in a file', async (limit, expected) => {
    const platform = await stage()
    const [email = '', other = ''] = await people(platform, 2)
    const file = await csvOf('email,limit', `${other},${limit}`)
    for (const args of [
      [email, limit],
      ['--csv', file],
    ]) {
      const { code, out, err } = await platform.run([
        'limits',
        'set',
        ...args,
        '--yes',
        '--force',
        '--json',
      ])
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(JSON.parse(out)).toMatchObject({ set: 1, users: [{ limit: expected, result: 'set' }] })
    }
  })
})

describe('a limits command that cannot succeed', () => {
  it.each([
    ['a global limit below the minimum', ['set-global', '999999'], /999999 is not .* 1000000/],
    ['a global limit that is not a number', ['set-global', 'much'], /the limit: 'much' is not/],
    ['an empty global limit', ['set-global', ''], /argument 3 is empty/],
    ['a blank global limit', ['set-global', ' '], /argument 3 is empty/],
    ['an empty limit', ['set', 'ada@acme.example', ''], /argument 4 is empty/],
    ['an undefined limit', ['set', 'ada@acme.example', 'null'], /the limit: 'null' is not/],
    ['a user without a limit', ['set', 'ada@acme.example'], /give a user and a limit/],
    ['a user and a file', ['set', 'a@b.example', '1', '--csv', 'x.csv'], /give a user and a limit/],
    ['an invalid e-mail address', ['set', 'ada', '1'], /'ada' is not an e-mail address/],
    ['an invalid limit', ['set', 'ada@acme.example', '1e6'], /the limit: '1e6' is not/],
    ['a limit below zero', ['set', 'ada@acme.example', '-5'], /the limit: '-5' is not/],
    ['a global limit below zero', ['set-global', '-5'], /the limit: '-5' is not/],
    ['a missing file', ['set', '--csv', '/no/such.csv'], /--csv: \/no\/such\.csv/],
    ['remove without a user', ['remove'], /arguments: 0 given, at least 1 needed/],
  ])('%s exits with code 2, without a request', async (_, args, message) => {
    const { run, emulator } = await stage()
    const { code, out, err } = await run(['limits', ...args, '--yes'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)[0]).toMatch(message)
    expect(linesOf(err).length).toBeLessThanOrEqual(2)
    expect(emulator.requests).toEqual([])
  })
})
