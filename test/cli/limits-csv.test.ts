import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { csvOf, limitsOf, people } from './limits-stage.ts'
import { linesOf, stage } from './platform-stage.ts'

const USERS = '/api/v0/organization/usage/limits/users'

describe('limits set --csv', () => {
  it('sends two requests for 101 users, and none when repeated', async () => {
    const platform = await stage({ users: 400 })
    const emails = await people(platform, 101)
    expect(emails).toHaveLength(101)
    const file = await csvOf('email,limit', ...emails.map((email) => `${email},4000000`))
    const first = await platform.run(['limits', 'set', '--csv', file, '--yes', '--json'])
    expect(first.code, first.err).toBe(0)
    expect(JSON.parse(first.out)).toMatchObject({ set: 101 })
    expect(platform.changes()).toEqual([`PUT ${USERS}`, `PUT ${USERS}`])
    const again = await platform.run(['limits', 'set', '--csv', file, '--yes'])
    expect(again).toMatchObject({ code: 0, out: '101 limits unchanged, not sent\n' })
    expect(platform.changes()).toHaveLength(2)
  })

  it('exits with code 3 when some users fail, with a result for each user', async () => {
    const platform = await stage()
    const [email = ''] = await people(platform, 1)
    const file = await csvOf('limit;email', `4000000;"${email}"`, '5;nobody@else.example')
    const { code, out } = await platform.run(['limits', 'set', '--csv', file, '--yes', '--json'])
    expect(code).toBe(3)
    expect(JSON.parse(out)).toMatchObject({
      set: 1,
      failed: 1,
      users: [
        { email, limit: 4_000_000, result: 'set', error: null },
        {
          email: 'nobody@else.example',
          result: 'failed',
          error: 'no user of the organisation has this e-mail',
        },
      ],
    })
  })

  it('a dry run prints a limit beyond 2^53 as it would be sent', async () => {
    const platform = await stage()
    const [email = ''] = await people(platform, 1)
    const dry = ['limits', 'set', email, '9007199254740995', '--dry-run']
    expect((await platform.run(dry)).out).toContain('"limit":9007199254740995}')
    const { out } = await platform.run([...dry, '--json'])
    expect(out).toContain('"limit":9007199254740995}')
    expect(JSON.parse(out)).toMatchObject({ dry_run: true, requests: [{ method: 'PUT' }] })
  })

  it('reports the limits that were set before a failure, and sends the rest when repeated', async () => {
    let isBroken = true
    let puts = 0
    const platform = await stage({
      users: 400,
      intercept: ({ method }) =>
        method === 'PUT' && (puts += 1) === 2 && isBroken
          ? new Response('{"title":"Bad Request","detail":"the second is bad"}', { status: 400 })
          : undefined,
    })
    const emails = await people(platform, 110)
    const file = await csvOf('email,limit', ...emails.map((email) => `${email},4000000`))
    const set = ['limits', 'set', '--csv', file, '--yes', '--json']
    const first = await platform.run(set)
    expect(first.code).toBe(3)
    expect(JSON.parse(first.out)).toMatchObject({ set: 100, failed: emails.length - 100 })
    expect(linesOf(first.err)).toEqual([
      expect.stringMatching(
        /PUT \S+: 400 Bad Request: the second is bad.*; 100 of \d+ limits were set before$/,
      ),
      expect.stringContaining('When the cause is fixed, run the command again'),
    ])
    isBroken = false
    expect(JSON.parse((await platform.run(set)).out)).toMatchObject({
      set: emails.length - 100,
      unchanged: 100,
    })
  })

  it('reports very many users that were not tried', async () => {
    const platform = await stage({
      intercept: ({ method }) =>
        method === 'PUT' ? new Response('{"title":"Bad Request"}', { status: 400 }) : undefined,
    })
    const lines = Array.from({ length: 140_000 }, (_, at) => `u${at}@a.example,4000000`)
    const file = await csvOf('email,limit', lines.join('\n'))
    const { code, out } = await platform.run(['limits', 'set', '--csv', file, '--yes', '--json'])
    expect(code).toBe(2)
    expect(JSON.parse(out)).toMatchObject({ failed: 100, not_tried: 139_900 })
  })

  it('removes the limit of a user where the file says none', async () => {
    const platform = await stage()
    const [one, two, three] = (await limitsOf(platform)).userLimits.map(({ email }) => email)
    const file = await csvOf('email,limit', `${one},"none"`, `${two},none`, `"${three}", none`, '')
    const { out } = await platform.run(['limits', 'set', '--csv', file, '--yes', '--json'])
    expect(JSON.parse(out)).toMatchObject({ removed: 3 })
  })

  it('refuses a file of another kind without showing all of its first line', async () => {
    const { run } = await stage()
    const file = await csvOf(`{"token":"${'x'.repeat(5_000)}"}`)
    const { code, err } = await run(['limits', 'set', '--csv', file, '--yes'])
    expect(code).toBe(2)
    expect(linesOf(err)[0]).toBe(
      `agent-warehouse: ${file}:1: the header is '{"token":"${'x'.repeat(69)}…', not email,limit`,
    )
  })

  const good = Array.from({ length: 55 }, (_, index) => `user${index}@acme.example,1000`)
  it.each([
    [
      'a limit that is not a number',
      'ada@acme.example,lots',
      /the limit: 'lots' is not a whole number/,
    ],
    ['a fraction', 'ada@acme.example,1.5', /the limit: '1\.5' is not/],
    ['a limit below zero', 'ada@acme.example,-5', /the limit: '-5' is not a whole number/],
    ['an empty limit', 'ada@acme.example,', /the limit is empty/],
    ['a blank limit', 'ada@acme.example,"  "', /the limit is empty/],
    ['the word null', 'ada@acme.example,null', /the limit: 'null' is not/],
    ['the word None', 'ada@acme.example,None', /the limit: 'None' is not/],
    ['a user that is not an e-mail address', 'ada,1000', /'ada' is not an e-mail address/],
    ['a field too many', 'ada@acme.example,1000,x', /the line has 3 fields, the first line has 2/],
    ['a field too few', 'ada@acme.example', /the line has 1 field, the first line has 2/],
    ['an unclosed quote', '"ada@acme.example,1000', /a double quote is not closed/],
    [
      'text after a closing quote',
      '"ada@acme.example"x,1000',
      /text follows a closing double quote/,
    ],
    ['a repeated user', 'USER3@acme.example,9', /USER3@acme\.example is already in line 5/],
  ])('refuses %s in line 57 with the line number, before any request', async (_, line, message) => {
    const { run, emulator } = await stage()
    const file = await csvOf('email,limit', ...good, line, 'bob@acme.example,1')
    const { code, out, err } = await run(['limits', 'set', '--csv', file, '--yes'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)[0]).toContain(`${file}:57: `)
    expect(linesOf(err)[0]).toMatch(message)
    expect(linesOf(err)).toHaveLength(2)
    expect(emulator.requests).toEqual([])
  })

  it.each([
    ['a wrong header', ['user,limit', 'a@b.example,1'], /:1: the header is 'user,limit'/],
    ['a file without users', ['email,limit', ''], /:2: the file contains no user/],
    ['an empty file', [''], /:1: the header is ''/],
  ])('refuses %s', async (_, lines, message) => {
    const { run, emulator } = await stage()
    const { code, err } = await run(['limits', 'set', '--csv', await csvOf(...lines), '--yes'])
    expect(code).toBe(2)
    expect(linesOf(err)[0]).toMatch(message)
    expect(emulator.requests).toEqual([])
  })

  it('says of each broken line what is wrong and what to do', async () => {
    const { run, emulator } = await stage()
    const broken = [
      'ada,1',
      'b@x.test,',
      'c@x.test,1.5',
      'd@x.test,1,2',
      'e@x.test,1',
      'E@x.test,2',
    ]
    const file = await csvOf('email,limit', ...broken)
    const { code, err } = await run(['limits', 'set', '--csv', file, '--yes'])
    expect(code).toBe(2)
    expect(linesOf(err)).toEqual([
      `agent-warehouse: ${file}: 5 lines are wrong, and nothing was sent`,
      `  ${file}:2: 'ada' is not an e-mail address. Write the address of one user, such as ada@acme.example.`,
      `  ${file}:3: the limit is empty. To remove a limit, write the word none.`,
      `  ${file}:4: the limit: '1.5' is not a whole number. Write the credits in digits only, such as 5000000, or the word none to remove the limit.`,
      `  ${file}:5: the line has 3 fields, the first line has 2. A field with ',' must be in double quotes.`,
      `  ${file}:7: E@x.test is already in line 6. Remove one of the two lines.`,
    ])
    expect(emulator.requests).toEqual([])
  })

  it('shows the first twenty broken lines, and counts the others', async () => {
    const { run } = await stage()
    const file = await csvOf('email,limit', ...Array.from({ length: 23 }, () => 'ada,1'))
    const { err } = await run(['limits', 'set', '--csv', file, '--yes'])
    expect(linesOf(err)).toHaveLength(22)
    expect(linesOf(err).at(-1)).toBe('  and 3 lines more')
  })

  it('refuses a file that is not UTF-8, with the line number', async () => {
    const { run } = await stage()
    const file = await csvOf('email,limit', 'a@b.example,1')
    const bytes = await readFile(file)
    await writeFile(file, Buffer.concat([bytes, Buffer.from([10, 0xe9, 0x40])]))
    const { code, err } = await run(['limits', 'set', '--csv', file, '--yes'])
    expect(code).toBe(2)
    expect(linesOf(err)[0]).toContain(`${file}:3: the file is not UTF-8`)
  })
})
