import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sha256OfFile } from '../../src/lib/files.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

it('the user’s seeds reach the warehouse, a broken seed does not change it, and lines that match no user are named', async () => {
  const now = Date.parse('2026-01-18T05:00:00Z')
  const emulator = await standIn({ users: 5, seed: 1, now: () => now })
  const data = await temporaryFolder()
  const environment = environmentOf(emulator, data)
  const teams = join(data, 'seeds', 'teams.csv')
  await mkdir(join(data, 'seeds'))
  await writeFile(teams, 'user,team,cost_centre,valid_from\na@x.example,red,,2026-01-14\n')
  const first = await command(['run', '--log', 'text'], environment)
  expect(first, first.err).toMatchObject({ code: 0 })
  expect(first.err).toContain(`${teams}: line 2 matches no user that the platform has served`)
  expect(first.err + first.out).not.toContain('a@x.example')
  const query = ['query', 'select member, team from snapshots.team_entries_history', '--json']
  const expected = [{ member: 'a@x.example', team: 'red' }]
  expect(JSON.parse((await command(query, environment)).out)).toEqual(expected)

  const file = join(data, 'warehouse.duckdb')
  const before = await sha256OfFile(file)
  await writeFile(teams, 'user,team,cost_centre,valid_from\na@x.example,red,,14.1.2026\n')
  const broken = await command(['build', '--log', 'none'], environment)
  expect(broken.code).toBe(2)
  expect(broken.err).toContain(`${teams}:2: column 'valid_from': '14.1.2026' is not a date`)
  const licences = join(data, 'seeds', 'licences.csv')
  await writeFile(teams, 'user,team,cost_centre,valid_from\na@x.example,red,,2026-01-14\n')
  await writeFile(licences, 'valid_from,seats\n2026-01-14,-5\n')
  const negative = await command(['build', '--log', 'none'], environment)
  expect(negative.code).toBe(2)
  expect(negative.err).toContain(`${licences}:2: column 'seats': '-5' is below 0`)
  expect(await sha256OfFile(file)).toBe(before)

  await rm(licences)
  await rm(teams)
  await writeFile(join(data, 'seeds', 'team.csv'), 'user,team\n')
  const rebuilt = await command(['rebuild', '--log', 'text'], environment)
  expect(rebuilt, rebuilt.err).toMatchObject({ code: 0 })
  expect(rebuilt.err).toContain("team.csv is not used, because there is no seed 'team'")
  expect(JSON.parse((await command(query, environment)).out)).toEqual(expected)
  const status = await command(['status'], environment)
  expect(status.out).toMatch(/stale +platform\.intervals: its newest row was fetched \d+ days ago/)

  const doctor = async () => (await command(['doctor'], environment)).out
  expect(await doctor()).not.toContain('no team')

  const sql = 'select user_id, user_email from dim_user where user_email is not null order by 1'
  const served = await command(['query', sql, '--json'], environment)
  const [one, two, ...rest] = JSON.parse(served.out) as { user_id: string; user_email: string }[]
  await writeFile(
    teams,
    [
      'user,team,cost_centre,valid_from,org_id',
      `${one?.user_email.toUpperCase() ?? ''},"red\nand blue",,2026-01-14,`,
      'misspelled@x.example,red,,2026-01-14,',
      `${two?.user_id ?? ''},red,,2026-01-14,another_organisation`,
      `${two?.user_id ?? ''},red,,2026-01-14,`,
    ].join('\n'),
  )
  const built = await command(['build', '--log', 'text'], environment)
  expect(built, built.err).toMatchObject({ code: 0 })
  expect(built.err).toContain('teams.csv: lines 4, 5 match no user that the platform has served')
  expect(built.err).not.toContain('misspelled@x.example')
  const report = await doctor()
  for (const { user_id } of rest) expect(report).toContain(user_id)
  expect(report).toMatch(/warning +teams +\d+ users? ha(s|ve) no team/)
  expect(report).not.toContain(one?.user_id)
})
