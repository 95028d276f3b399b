import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { standIn } from '../support/stand-in.ts'

it('status names organisations that are no longer configured, by whatever name', async () => {
  const emulator = await standIn({ users: 1, organisations: 2, now: () => Date.now() })
  const config = join(await temporaryFolder(), 'agent-warehouse.yaml')
  const environment = { ONE: emulator.keysOf(1).manager, TWO: emulator.keysOf(2).manager }
  const configure = (organisations: Readonly<Record<string, string>>) => {
    const lines = Object.entries(organisations).map(
      ([name, key]) => `  - {name: ${name}, base_url: '${emulator.url}', key_env: ${key}}`,
    )
    return writeFile(config, ['data: data', 'organisations:', ...lines].join('\n'), { mode: 0o600 })
  }
  const sync = ['sync', '--only', 'tokens', '--to', '2026-01-14', '--config', config]
  const status = async (...args: string[]) =>
    (await command(['status', '--config', config, ...args], environment)).out

  await configure({ one: 'ONE', two: 'TWO' })
  expect(await command(sync, environment)).toMatchObject({ code: 0 })
  expect(await status()).not.toContain('not configured')

  await configure({ renamed: 'TWO' })
  expect(await command(sync, environment)).toMatchObject({ code: 0 })
  expect(await status()).toMatch(/^not configured, so not loaded any more: 'org_demo'$/m)
  expect(await status('--org', 'renamed')).not.toContain('not configured')
  expect(JSON.parse(await status('--json'))).toMatchObject({ notConfigured: ['org_demo'] })

  const plan = (await command(['plan', '--json', '--config', config], environment)).out
  expect(JSON.parse(plan), 'the plan of the next run').toMatchObject([{ name: 'renamed' }])
  expect(await status(), 'limits that the next run begins with').toMatch(/^learned +renamed: /m)
  expect(await status()).not.toMatch(/^learned +(one|two): /m)

  await configure({ another: 'ONE' })
  expect(await status()).not.toContain('not configured')
})

/** Seven organisations, and the commands on them; `refusal`: the response to a request, if it is refused. */
async function fleet(
  now: () => number,
  refusal: (number: string, path: string) => Response | undefined,
) {
  const emulator = await standIn({
    users: 1,
    organisations: 7,
    now,
    intercept: ({ headers, path }) => {
      const [number = '1'] = /\d+$/.exec(headers.get('authorization') ?? '') ?? []
      const response = refusal(number, path)
      return response && Promise.resolve(response)
    },
  })
  const config = join(await temporaryFolder(), 'agent-warehouse.yaml')
  const numbers = [1, 2, 3, 4, 5, 6, 7]
  const lines = numbers.map(
    (at) => `  - {name: number ${at}, base_url: '${emulator.url}', key_env: KEY_${at}}`,
  )
  await writeFile(config, ['data: data', 'organisations:', ...lines].join('\n'), { mode: 0o600 })
  const environment = Object.fromEntries(
    numbers.map((at) => [`KEY_${at}`, emulator.keysOf(at).manager]),
  )
  const run = (...args: string[]) => command([...args, '--config', config], environment)
  const status = async (...args: string[]) => (await run('status', ...args)).out
  return { run, status, data: join(dirname(config), 'data') }
}

it('status of many organisations shows those that lack an entity resource after the others, and as one', async () => {
  const now = Date.parse('2026-01-16T06:00:00Z')
  const { run, status } = await fleet(
    () => now,
    (number, path) => {
      if (path.includes('/computers')) return Response.json({}, { status: 404 })
      const isFailing = number === '7' && path.endsWith('/productivity')
      return isFailing ? Response.json({}, { status: 400 }) : undefined
    },
  )
  expect(await run('sync')).toMatchObject({ code: 3 })
  expect(await status()).toMatch(
    /^1 organisation with problems\n {2}'number 7': 2 intervals failed, GET .* 400 .*\n6 organisations with problems of entity resources only\n {2}'number 1', .* and 1 more: computer_metrics: GET .* 404 .*\n0 organisations without problems;/m,
  )
})

it('status names organisations that no run reaches any more, although none of their days is a gap', async () => {
  const later = Date.parse('2026-01-17T06:00:00Z')
  let now = Date.parse('2026-01-16T06:00:00Z')
  const { run, status, data } = await fleet(
    () => now,
    (number) =>
      now < later || number !== '2'
        ? undefined
        : new Response('', { status: 429, headers: { 'retry-after': '86400' } }),
  )
  expect(await run('sync')).toMatchObject({ code: 0 })
  expect(await status()).toContain('7 organisations without problems')
  now = later
  const known = join(data, 'state', 'organisations.json')
  const text = await readFile(known, 'utf8')
  const dayLater = (ms: string): string => `"skewMs": ${Number(ms) + 86_400_000}`
  await writeFile(
    known,
    text.replaceAll(/"skewMs": (-?\d+)/g, (_, ms: string) => dayLater(ms)),
  )
  expect(await run('sync')).toMatchObject({ code: 4 })
  expect(await status()).toMatch(
    /^1 organisation with problems\n {2}'number 2': not loaded after 2026-01-15\n6 organisations/m,
  )
  expect(await status('--org', 'number 2')).toMatch(/^ {2}not loaded after 2026-01-15$/m)
  expect(await status('--org', 'number 3')).not.toContain('not loaded')
})
