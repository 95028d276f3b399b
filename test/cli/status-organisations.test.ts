import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
