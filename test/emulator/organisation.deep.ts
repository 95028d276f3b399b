import { describe, expect, it } from 'vitest'

import { addDays, parseDay } from '../../src/lib/days.ts'
import { landmarkOf, type Emulator } from '../../src/emulator/emulator.ts'
import {
  activityRow,
  ask,
  days,
  groupBy,
  parse,
  productivityRow,
  rowsOf,
  start,
  tokenRow,
  toolRow,
  userRow,
  allUsers,
  YESTERDAY,
} from './support.ts'

const FIRST_DAY = parseDay('2026-01-14', 'the first day')
const EVERYTHING = days(FIRST_DAY, YESTERDAY)
const mark = (name: Parameters<typeof landmarkOf>[1]) => landmarkOf(FIRST_DAY, name)

const PATHS = [
  '/tokens',
  '/tokens?group_by=model',
  '/tools',
  '/tools?group_by=tool_name',
  '/activity',
  '/activity?group_by=client',
  '/productivity',
  '/users?limit=100',
]

async function everyBody(emulator: Emulator, range: string): Promise<string[]> {
  const bodies = []
  for (const path of PATHS) {
    const separator = path.includes('?') ? '&' : '?'
    const { text } = await ask(emulator, `${path}${separator}${range}`)
    bodies.push(text)
  }
  return bodies
}

describe('determinism', () => {
  it('two platforms of the same seed serve the same bytes', async () => {
    const [first, second] = [await start({ seed: 11 }), await start({ seed: 11 })]
    expect(await everyBody(second, EVERYTHING)).toEqual(await everyBody(first, EVERYTHING))
  })

  it('a planted anomaly multiplies the tokens of its user and day, and changes nothing else', async () => {
    const plain = await start()
    const [row] = await allUsers(plain, days(YESTERDAY))
    const day = parseDay(YESTERDAY, 'yesterday')
    const planted = await start({
      anomalies: [{ day, userId: row?.user_id ?? '', factor: 10 }],
    })
    const [multiplied, ...others] = await allUsers(planted, days(YESTERDAY))
    expect(multiplied).toMatchObject({ ...row, billable_tokens: multiplied?.billable_tokens })
    const factor = Number(multiplied?.billable_tokens) / Number(row?.billable_tokens)
    expect(factor).toBeCloseTo(10, 2)
    expect(others).toEqual((await allUsers(plain, days(YESTERDAY))).slice(1))
    const before = days(FIRST_DAY, addDays(day, -1))
    expect(await everyBody(planted, before)).toEqual(await everyBody(plain, before))
  })

  it('another seed gives another organisation', async () => {
    const [first, second] = [await start({ seed: 1 }), await start({ seed: 2 })]
    const ids = async (emulator: Emulator) =>
      (await allUsers(emulator, EVERYTHING)).map((user) => user.user_id)
    const ofSecond = new Set(await ids(second))
    expect((await ids(first)).filter((id) => ofSecond.has(id))).toEqual([])
  })

  it('a later clock adds days and changes no earlier ones', async () => {
    const early = await start()
    const late = await start({ now: () => Date.parse('2026-12-31T12:00:00Z') })
    expect(await everyBody(late, EVERYTHING)).toEqual(await everyBody(early, EVERYTHING))
  })

  it('a day has the same rows alone and in a window', async () => {
    const emulator = await start()
    const window = await rowsOf(emulator, activityRow, `/activity?${EVERYTHING}`)
    for (const date of ['2026-01-14', '2026-02-14', YESTERDAY]) {
      const alone = await rowsOf(emulator, activityRow, `/activity?${days(date)}`)
      expect(alone).toEqual(window.filter((row) => row.date === date))
    }
  })
})

describe('a realistic organisation', () => {
  it('is less active at weekends', async () => {
    const emulator = await start({ users: 200 })
    const rows = await rowsOf(
      emulator,
      activityRow,
      `/activity?${days('2026-03-02', '2026-03-15')}`,
    )
    const isWeekend = (date: string) => [0, 6].includes(new Date(date).getUTCDay())
    const most = (weekend: boolean) =>
      Math.max(
        ...rows
          .filter((row) => isWeekend(row.date) === weekend)
          .map((row) => Number(row.daily_active_users)),
      )
    expect(most(true)).toBeLessThan(most(false) / 2)
  })

  it('grows, and some users leave and return', async () => {
    const now = () => Date.parse('2026-09-01T00:00:00Z')
    const emulator = await start({ users: 200, now })
    const monthly = async (date: string) =>
      Number(
        (await rowsOf(emulator, activityRow, `/activity?${days(date)}`))[0]?.monthly_active_users,
      )
    expect(await monthly('2026-08-30')).toBeGreaterThan(1.3 * (await monthly('2026-02-13')))

    const rows = await allUsers(emulator, `${days(FIRST_DAY, '2026-08-30')}&limit=100`)
    const gaps = [...groupBy(rows, (row) => row.user_id).values()].flatMap((own) =>
      own.slice(1).map((row, i) => Date.parse(row.date) - Date.parse(own[i]?.date ?? row.date)),
    )
    expect(Math.max(...gaps) / 86_400_000).toBeGreaterThan(20)
  })

  it('has users of several clients on one day', async () => {
    const emulator = await start()
    const rows = await rowsOf(emulator, activityRow, `/activity?${EVERYTHING}`)
    const overlap = rows.filter((row) => {
      const clients = Object.values(row.daily_active_users_by_client)
      return clients.reduce((total, users) => total + users, 0n) > row.daily_active_users
    })
    expect(overlap.length).toBeGreaterThan(10)
    expect(Object.keys(rows[0]?.daily_active_users_by_client ?? {}).toSorted()).toEqual([
      'non-interactive-cli',
      'terminal-ui',
      'web',
    ])
  })

  it('has both model tiers, and a model that is launched on a given day', async () => {
    const emulator = await start({ users: 100 })
    const rows = await rowsOf(emulator, tokenRow, `/tokens?${EVERYTHING}`)
    const items = rows.flatMap((row) => row.by_model.map((item) => ({ ...item, date: row.date })))
    const firstDays = [...groupBy(items, (item) => item.model_id)].map(([, own]) => own[0]?.date)
    expect(new Set(items.map((item) => item.model_tier))).toEqual(new Set(['standard', 'thinking']))
    expect(firstDays.toSorted()).toEqual([...Array<string>(5).fill(FIRST_DAY), mark('modelLaunch')])
  })
})

describe('the planted oddities', () => {
  it('an outage and a holiday have no rows, and all other days have some', async () => {
    const emulator = await start()
    for (const day of [mark('outage'), mark('companyHoliday')]) {
      for (const path of PATHS) {
        const separator = path.includes('?') ? '&' : '?'
        const { status, text } = await ask(emulator, `${path}${separator}${days(day)}`)
        expect([status, JSON.parse(text)]).toMatchObject([200, { data: [] }])
      }
    }
    const dates = (await rowsOf(emulator, tokenRow, `/tokens?${EVERYTHING}`)).map((row) => row.date)
    expect(dates).toHaveLength(65 - 2)
  })

  it('one day has a number beyond 2^53, with all digits', async () => {
    const emulator = await start()
    const { text } = await ask(emulator, `/tokens?${EVERYTHING}`)
    expect(text.match(/"input_tokens":9007199254740993,/g)).toHaveLength(1)
    const [row] = await rowsOf(emulator, tokenRow, `/tokens?${days(mark('hugeNumber'))}`)
    expect(row?.input_tokens).toBe(9_007_199_254_740_993n)
  })

  it.each([
    ['/tokens', 'cache_write_tokens'],
    ['/tools', 'hooks_by_event'],
    ['/users', 'delegation_level'],
  ])('%s has %s from a given day on, not before', async (path, field) => {
    const emulator = await start()
    expect(mark('newFields')).toBe('2026-02-10')
    const before = await ask(emulator, `${path}?${days('2026-01-14', '2026-02-09')}`)
    const after = await ask(emulator, `${path}?${days('2026-02-10', '2026-02-11')}`)
    expect(before.text).not.toContain(`"${field}"`)
    expect(after.text).toContain(`"${field}"`)
  })

  it.each([
    ['a fraction', '/productivity', /"git_commits":\d+\.0[,}]/],
    ['a fraction in /users', '/users', /"sessions":\d+\.0,/],
    ['an exponent', '/productivity', /"files_edited":\d(\.\d+)?e\d+[,}]/],
    ['an exponent in /users', '/users', /"tool_calls":\d(\.\d+)?e\d+,/],
    ['1e3', '/activity', /:1e3[,}]/],
    ['trailing zeros', '/tools', /:0\.1000[,}]/],
    ['an unknown nested field', '/users', /"seat":\{"plan":"team","add_ons":\["review",\{/],
    ['another key order in day rows', '/activity', /\{"preview".*?"date":"[^"]*"\}/],
    ['another key order in /users', '/users', /\{"tool_calls"/],
    ['an escaped name', '/tools', /"name":"r\\u00e9sum\\u00e9-du-sprint"/],
    ['the same name unescaped', '/tools', /"name":"résumé-du-sprint"/],
    ['an escaped address', '/users', /"user_email":"jos\\u00e9\./],
    ['no address', '/users', /"user_email":null,/],
    ['case variants', '/tools', /"server":"LINEAR ".*"server":"linear"/],
    ['a composed accent', '/tools', /"server":"Caf\u00e9 Docs"/],
    ['a decomposed accent', '/tools', /"server":"Cafe\u0301 Docs"/],
  ])('%s occurs in %s', async (_, path, pattern) => {
    const emulator = await start()
    const { text } = await ask(emulator, `${path}?${EVERYTHING}&limit=100`)
    expect(text).toMatch(pattern)
  })

  it('a small history has every kind of unparsed tool name', async () => {
    const emulator = await start()
    const rows = await rowsOf(emulator, toolRow, `/tools?${EVERYTHING}`)
    const tools = rows.flatMap((row) => row.by_tool)
    const unparsed = groupBy(
      tools.filter((item) => /["<{]/.test(item.tool)),
      (item) => item.tool,
    )
    expect([...unparsed.keys()].toSorted()).toEqual([
      '<tool>Grep',
      'Edit","arguments',
      'Read{"file_path":"src/a.ts"}',
      '{"name": "Exec',
    ])
  })

  it('about 0.006 % of the calls of a large organisation are unparsed', async () => {
    const emulator = await start({ users: 4_000 })
    const range = days('2026-03-02', '2026-03-13')
    const tools = (await rowsOf(emulator, toolRow, `/tools?${range}`)).flatMap((row) => row.by_tool)
    const calls = (items: typeof tools) =>
      items.reduce((total, item) => total + Number(item.invocations), 0)
    const share = calls(tools.filter((item) => /["<{]/.test(item.tool))) / calls(tools)
    expect(share * 100).toBeCloseTo(0.006, 3)
  })

  it('one user changes the e-mail address once, on a given day', async () => {
    const emulator = await start()
    const rows = await allUsers(emulator, `${days('2026-02-01', '2026-03-01')}&limit=100`)
    const changed = [...groupBy(rows, (row) => row.user_id).values()].filter(
      (own) => new Set(own.map((row) => row.user_email)).size === 2,
    )
    expect(changed).toHaveLength(1)
    for (const row of changed.flat()) {
      const isNew = row.user_email === 'alan.backus-byron@acme.example'
      expect([row.date, isNew]).toEqual([row.date, row.date >= mark('emailChange')])
    }
  })

  it('the landmarks move with the first day', async () => {
    const emulator = await start({ firstDay: '2026-03-01' })
    const { text } = await ask(emulator, `/tokens?${days('2026-03-01', YESTERDAY)}`)
    const { data } = parse(tokenRow, { status: 200, headers: new Headers(), text })
    expect(data.map((row) => row.date)).not.toContain('2026-03-06')
    expect(text).toContain('"date":"2026-03-10"')
    expect(data.find((row) => row.date === '2026-03-10')?.input_tokens).toBe(2n ** 53n + 1n)
  })

  it('rows with unusual number spellings can be parsed', async () => {
    const emulator = await start()
    const rows = await rowsOf(emulator, productivityRow, `/productivity?${EVERYTHING}`)
    expect(rows).toHaveLength(63)
    const users = parse(userRow, await ask(emulator, `/users?${EVERYTHING}&limit=100`)).data
    expect(users.length).toBeGreaterThan(700)
  })
})

describe('size', () => {
  it('300 days of 40 users take less than a second of CPU time in one response', async () => {
    const emulator = await start({ now: () => Date.parse('2026-11-10T00:00:00Z') })
    const range = days(FIRST_DAY, '2026-11-09')
    for (const path of ['/tokens', '/tools', '/activity', '/productivity']) {
      const began = process.cpuUsage()
      const { status } = await ask(emulator, `${path}?${range}`)
      expect(status).toBe(200)
      const { user, system } = process.cpuUsage(began)
      expect((user + system) / 1_000, path).toBeLessThan(1_000)
    }
  })

  it('a response of many megabytes arrives complete', async () => {
    const emulator = await start({ users: 1_000 })
    const rows = await rowsOf(emulator, tokenRow, `/tokens?${EVERYTHING}`)
    expect(rows).toHaveLength(63)
  })
})
