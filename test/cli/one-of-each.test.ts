import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { moreText } from '../../src/serve/report/words.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'

it.each([
  ['2026-01-14', '1 day, 2026-01-14, in 1 request: 1 missing'],
  ['2026-01-15', '2 days, 2026-01-14 to 2026-01-15, in 1 request: 2 missing'],
])('a plan to %s counts its days', async (to, text) => {
  const environment = {
    AGENT_WAREHOUSE_DATA: await temporaryFolder(),
    AGENT_BASE_URL: 'http://127.0.0.1:1',
    AGENT_API_KEY: 'key-of-the-test',
  }
  const { out, err } = await command(['plan', '--only', 'tokens', '--to', to], environment)
  expect(err).toBe('')
  expect(out).toContain(text)
})

it('status of many organisations without a web application host has one line of them', async () => {
  const folder = await temporaryFolder()
  const config = join(folder, 'organisations.yaml')
  const lines = Array.from(
    { length: 30 },
    (_, at) => `  - {name: o${at}, base_url: 'http://127.0.0.1:1', key_env: KEY}`,
  )
  await writeFile(config, ['data: data', 'organisations:', ...lines].join('\n'), { mode: 0o600 })
  const { out } = await command(['status', '--config', config])
  expect(out.match(/^readiness .*/gm)).toEqual([
    "readiness    not requested without a web application host (AGENT_APP_URL): 'o0', 'o1', 'o2', 'o3', 'o4' and 25 more",
  ])
})

it('a report counts the organisations that it leaves out', () => {
  expect(moreText(1)).toBe('1 more organisation is')
  expect(moreText(2)).toBe('2 more organisations are')
})

it('a plan names organisations that were never loaded as the configuration does', async () => {
  const config = join(await temporaryFolder(), 'organisations.yaml')
  const lines = ['acme', 'beta'].map(
    (name) => `  - {name: ${name}, base_url: 'http://127.0.0.1:1', key_env: KEY}`,
  )
  await writeFile(config, ['data: data', 'organisations:', ...lines].join('\n'), { mode: 0o600 })
  const plan = ['plan', '--only', 'tokens', '--to', '2026-01-14', '--config', config]
  const { out } = await command(plan)
  expect(out.match(/^\S.*/gm)).toEqual([
    "'acme', which was never loaded:",
    "'beta', which was never loaded:",
  ])
  const json: unknown = JSON.parse((await command([...plan, '--json'])).out)
  expect(json).toMatchObject([
    { name: 'acme', org_id: null },
    { name: 'beta', org_id: null },
  ])
})
