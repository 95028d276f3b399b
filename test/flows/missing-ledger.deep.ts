import { readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { checkLake } from '../../src/doctor/folder.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import type { RunContext } from '../../src/pipeline/run-context.ts'
import { build } from '../../src/pipeline/build.ts'
import { knownOrganisations } from '../../src/lake/ledger.ts'
import { temporaryFolder, testWorld, type TestWorld } from '../support/helpers.ts'
import { DAY, landed, night, NIGHT, platform } from './entities-night.ts'

const ORG = 'org_demo'
const LIMITS = { only: ['usage_limits', 'computers'] } as const

/** Two nights whose limits differ, and the lake before a third. */
async function twoNights() {
  const [emulator, data] = [await platform(), await temporaryFolder()]
  await night(emulator, data, LIMITS)
  await night(emulator, data, { ...LIMITS, now: NIGHT + DAY })
  const third = () => night(emulator, data, { ...LIMITS, now: NIGHT + 2 * DAY })
  const ledger = join(data, 'state', 'ledger', `${ORG}.ndjson`)
  return { emulator, data, ledger, third, before: await landed(data, 'usage_limits') }
}

async function withoutLines(path: string, part: string): Promise<void> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  await writeFile(path, lines.filter((line) => !line.includes(part)).join('\n'))
}

const DAMAGES: readonly [string, (ledger: string) => Promise<void>][] = [
  ['is empty', (ledger) => truncate(ledger, 0)],
  ['is gone', (ledger) => rm(ledger)],
  ['holds another text', (ledger) => writeFile(ledger, 'Dear Sir or Madam,\n')],
  ['lacks the lines of a resource', (ledger) => withoutLines(ledger, 'usage_limits')],
  ['was restored as it was before the second night', (ledger) => withoutLines(ledger, '03-11')],
  [
    'has a line that cannot be read',
    async (ledger) => {
      await writeFile(ledger, (await readFile(ledger, 'utf8')).replace('"usage_limits"', 'limits'))
    },
  ],
]

describe('law 3: a ledger that', () => {
  it.each(DAMAGES)('%s gets the versions in the lake back on the next night', async (_, damage) => {
    const { data, ledger, third, before } = await twoNights()
    await damage(ledger)
    const { problems } = await third()
    expect(await landed(data, 'usage_limits')).toMatchObject(before)
    expect(problems.join('\n')).toMatch(
      /lacked versions that are in the lake \(.*\); they were added/,
    )
    const { problems: next } = await third()
    expect(next).toEqual([])
  })
})

it.each(DAMAGES)('doctor reports a ledger that %s', async (_, damage) => {
  const { data, ledger } = await twoNights()
  const problemsFound = async () =>
    (await checkLake(data, false)).filter(
      ({ check, state }) => check === 'ledger' && state !== 'ok',
    )
  expect(await problemsFound()).toEqual([])
  await damage(ledger)
  expect((await problemsFound()).map(({ message }) => message).join()).toMatch(
    /that the ledger does not list: |no ledger lists/,
  )
})

/** A run on the third night, without a platform. */
function contextOf(data: string): RunContext & { readonly world: TestWorld } {
  const environment = { AGENT_BASE_URL: 'http://127.0.0.1:9', AGENT_API_KEY: 'key' }
  const [config, world] = [loadConfig({ data }, environment, data), testWorld(NIGHT + 2 * DAY)]
  return { config, world, runId: 'run', deadline: NIGHT + 3 * DAY }
}

it('a signal stops a build while it writes base, and the next one writes the rest', async () => {
  const { data } = await twoNights()
  const stopped = contextOf(data)
  const reason = new Error('stopped by SIGTERM')
  const written = (context: ReturnType<typeof contextOf>) =>
    context.world.events.filter(({ type }) => type === 'base.written').length
  const emit = stopped.world.emit
  const world = {
    ...stopped.world,
    emit: (event: RunEvent) => {
      emit(event)
      if (event.type === 'base.written') stopped.world.stop.abort(reason)
    },
  }
  const options = { select: 'stg_platform__usage_limits_days', runs: () => Promise.resolve([]) }
  await expect(build({ ...stopped, world }, options)).rejects.toBe(reason)
  const next = contextOf(data)
  await expect(build(next, options)).rejects.toThrow('there is no published warehouse yet')
  expect(written(stopped)).toBeGreaterThan(0)
  expect(written(next)).toBeGreaterThan(0)
})

it('law 3: a build adds the versions in the lake to a missing ledger', async () => {
  const { data, ledger, before } = await twoNights()
  await rm(join(data, 'state'), { recursive: true })
  const job = contextOf(data)
  // nothing was published yet, so it ends once base is written
  const options = { select: 'stg_platform__usage_limits_days', runs: () => Promise.resolve([]) }
  await expect(build(job, options)).rejects.toThrow('there is no published warehouse yet')
  expect(await readdir(join(data, 'state', 'ledger'))).toEqual([ledger.split('/').at(-1)])
  expect(await knownOrganisations(data)).toEqual([ORG])
  expect(await landed(data, 'usage_limits')).toEqual(before)
})
