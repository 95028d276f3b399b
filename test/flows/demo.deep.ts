import { mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { Database } from '../../src/lib/duckdb.ts'

it('the demo fills every mart, has the anomaly that is planted, and puts its users in teams', async () => {
  const data = await temporaryFolder()
  await writeFile(join(data, '.demo'), 'of an earlier demo\n')
  await mkdir(join(data, 'earlier'))
  await using folder = await open(data)
  const working = await temporaryFolder()
  await writeFile(join(working, 'agent-warehouse.yaml'), 'organisations: []\n', { mode: 0o600 })
  const { code, err } = await command(['demo', '--data', data, '--log', 'none'], {}, working)
  expect(code, 'a configuration in the working folder is not read: ' + err).toBe(0)
  expect((await folder.stat()).nlink, 'the folder itself stays').toBeGreaterThan(0)
  expect(await readdir(data)).not.toContain('earlier')
  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    const marts = await database.rows(`select table_name as name
      from information_schema.tables where table_schema = 'main'`)
    expect(marts.length).toBeGreaterThan(40)
    const empty: string[] = []
    for (const { name } of z.array(z.object({ name: z.string() })).parse(marts)) {
      const [row] = await database.rows(`select count(*) as rows from main.${name}`)
      if (Number(row?.['rows']) === 0) empty.push(name)
    }
    expect(empty).toEqual([])
    const unusual = await database.rows(`select scope, user_label, sign(score) as side
      from mart_anomalies left join dim_user using (org_id, user_id) order by all`)
    const loop = { scope: 'user', user_label: 'ada.abara@acme.example', side: 1 }
    expect(unusual.filter(({ user_label: label }) => label === loop.user_label)).toEqual([
      loop,
      loop,
    ])
    expect(unusual).toContainEqual({ scope: 'org', user_label: null, side: -1 })
    const [of] = await database.rows(`select count(distinct team) as teams from dim_user`)
    expect(Number(of?.['teams'])).toBeGreaterThan(1)
  } finally {
    database.close()
  }
})
