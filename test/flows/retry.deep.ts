import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

/** A data folder after a night and a build that a broken seed failed; the seed is repaired. */
async function failedBuild() {
  let now = Date.parse('2026-01-18T05:00:00Z')
  let isRefusing = false
  const emulator = await standIn({
    users: 3,
    seed: 1,
    now: () => now,
    intercept: ({ path }) =>
      isRefusing && path.endsWith('/tools') ? new Response('{}', { status: 400 }) : undefined,
  })
  const data = await temporaryFolder()
  const environment = environmentOf(emulator, data)
  const ask = (...args: readonly string[]) => command(args, environment)
  const night = await ask('run', '--log', 'none')
  expect(night, night.err).toMatchObject({ code: 0 })
  const teams = join(data, 'seeds', 'teams.csv')
  await mkdir(join(data, 'seeds'), { recursive: true })
  await writeFile(teams, 'user,team,cost_centre,valid_from\na@x.example,red,,14.1.2026\n')
  const failed = await ask('build', '--log', 'none')
  expect(failed.err).toContain('agent-warehouse build --retry continues from it')
  await rm(teams)
  const refuseTomorrow = (): void => {
    now += 86_400_000
    isRefusing = true
  }
  return { data, ask, refuseTomorrow }
}

it('a retry is refused after a run whose days all failed, because the failed build does not know them', async () => {
  const { ask, refuseTomorrow } = await failedBuild()
  refuseTomorrow()
  expect(await ask('sync', '--only', 'tools', '--log', 'none')).toMatchObject({ code: 3 })
  const retried = await ask('build', '--retry', '--log', 'none')
  const sql = `select
      failed_days,
      (select count(*) from meta.intervals where status = 'failed') as failed
    from mart_data_health`
  const health = async (): Promise<unknown> => JSON.parse((await ask('query', sql, '--json')).out)
  expect(await health()).toEqual([{ failed_days: 0, failed: 0 }])
  expect(retried.code).toBe(2)
  expect(retried.err).toMatch(/--retry: .* since run \S+ failed/)
  const whole = await ask('build', '--log', 'none')
  expect(whole, whole.err).toMatchObject({ code: 0 })
  expect(await health()).toEqual([{ failed_days: 1, failed: 1 }])
})

it('a retry leaves hook events that came since the failed build to the next one', async () => {
  const { data, ask } = await failedBuild()
  const spool = join(data, 'state', 'hooks', 'spool')
  await mkdir(spool, { recursive: true })
  const event = { event_id: 'e1', recorded_at: '2026-01-18T06:00:00.000Z', input: {} }
  await writeFile(join(spool, '20260118T060000000Z-e1.json'), JSON.stringify(event))
  const retried = await ask('build', '--retry', '--log', 'none')
  expect(retried, retried.err).toMatchObject({ code: 0 })
  expect(await readdir(spool)).toHaveLength(1)
  const next = await ask('build', '--log', 'none')
  expect(next, next.err).toMatchObject({ code: 0 })
  expect(await readdir(spool)).toEqual([])
})
