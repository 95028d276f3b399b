import { readdirSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { warehouseOf } from '../serve/support.ts'
import { temporaryFolder, testServer } from '../support/helpers.ts'
import { execute } from './published-stage.ts'

const ENDLESS = 'select count(*) as n from range(1000000000000) as a (i) where i < 0'

it.each([
  ['query', ['query', ENDLESS], 'select 1'],
  [
    'report',
    ['report'],
    `create view mart_data_health as select 'org' as org_id from (${ENDLESS})`,
  ],
  [
    'docs',
    ['docs'],
    `create schema meta;
    create view meta.check_results as
      select 'fct' as model, 'x' as check_name, null as column_name, 'pass' as status, n as failures
      from (${ENDLESS})`,
  ],
])('the first signal stops %s with exit code 4 and a plain line, and no file', async (...row) => {
  const [, args, sql] = row
  const { folder } = await warehouseOf(sql)
  const before = process.listenerCount('SIGHUP')
  const files = readdirSync(folder)
  const ended = execute([...args, '--data', folder], {}, folder, undefined)
  await vi.waitUntil(() => process.listenerCount('SIGHUP') > before, { timeout: 60_000 })
  process.emit('SIGHUP', 'SIGHUP')
  const err = 'agent-warehouse: stopped by SIGHUP\n  To get the result, run the command again.\n'
  expect(await ended).toMatchObject({ code: 4, err })
  expect(process.listenerCount('SIGHUP')).toBe(before)
  expect(readdirSync(folder)).toEqual(files)
})

it('a signal stops doctor with exit code 4 and a plain line, although no check has failed', async () => {
  const { url, requests } = await testServer(() => undefined)
  const folder = await temporaryFolder()
  const environment = { AGENT_BASE_URL: url, AGENT_API_KEY: 'key', AGENT_WAREHOUSE_DATA: folder }
  const ended = execute(['doctor'], environment, folder)
  await vi.waitUntil(() => requests.length > 0, { timeout: 60_000 })
  process.emit('SIGHUP', 'SIGHUP')
  process.emit('SIGHUP', 'SIGHUP')
  const { code, out, err } = await ended
  expect({ code, out }).toEqual({ code: 4, out: '' })
  expect(err).toMatch(/^SIGHUP: stopping; .*\nagent-warehouse: stopped by SIGHUP\n/)
})
