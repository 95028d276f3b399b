import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { knownOrganisations, LedgerFile } from '../../src/lake/ledger.ts'
import { AppError, DeferredError, ExitCode } from '../../src/lib/errors.ts'
import { sync } from '../../src/pipeline/sync.ts'
import { temporaryFolder } from '../support/helpers.ts'
import {
  ANALYTICS,
  askedFor,
  closedPort,
  DAYS,
  daysOf,
  landed,
  listed,
  NOW,
  platform,
} from './fleet-night.ts'

it('law 6: a failing organisation fails alone, and a slow one delays no other', async () => {
  let othersAreDone: () => void = () => undefined
  const others = new Promise<void>((resolve) => (othersAreDone = resolve))
  const emulator = await platform(async ({ headers, path }) => {
    const number = askedFor(headers)
    if (number === 1) await others
    const isFaulty = number === 4 && path.endsWith('/tokens')
    return isFaulty ? new Response('no', { status: 400 }) : undefined
  })
  const organisations = [
    { ...listed(emulator, 1), name: 'slow' },
    { ...listed(emulator, 2), name: 'refused', key: 'no-such-key-2' },
    { ...listed(emulator, 3), name: 'gone', url: await closedPort() },
    { ...listed(emulator, 4), name: 'faulty' },
    { ...listed(emulator, 5), name: 'five' },
    { ...listed(emulator, 6), name: 'six' },
  ]
  const due = new Set(['org_demo_5', 'org_demo_6'])
  const finished = new Map<string, number>()
  const { outcome, data, events } = await landed(organisations, {
    onEvent: (event) => {
      if (event.type !== 'interval.finished') return
      const count = (finished.get(event.orgId) ?? 0) + 1
      finished.set(event.orgId, count)
      if (count === 2 * DAYS) due.delete(event.orgId)
      if (due.size === 0) othersAreDone()
    },
  })

  expect(outcome.exitCode).toBe(ExitCode.credential)
  expect(outcome.hasNews).toBe(true)
  const results = outcome.results.map(({ name, landed, failed }) => ({ name, landed, failed }))
  expect(results).toEqual([
    { name: 'slow', landed: 2 * DAYS, failed: 0 },
    { name: 'refused', landed: 0, failed: 0 },
    { name: 'gone', landed: 0, failed: 0 },
    { name: 'faulty', landed: DAYS, failed: DAYS },
    { name: 'five', landed: 2 * DAYS, failed: 0 },
    { name: 'six', landed: 2 * DAYS, failed: 0 },
  ])
  for (const orgId of ['org_demo', 'org_demo_5', 'org_demo_6'])
    expect(await daysOf(data, orgId)).toBe(2 * DAYS)
  const failures = events.flatMap((event) => (event.type === 'organisation.failed' ? [event] : []))
  expect(failures).toMatchObject([
    { name: 'refused', exitCode: ExitCode.credential },
    { name: 'gone', exitCode: ExitCode.partial },
    { name: 'faulty', error: '4 intervals failed', exitCode: ExitCode.partial },
  ])
  expect(outcome.problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^'refused': .*401/),
    expect.stringMatching(/^'gone': the platform could not be reached/),
  ])
})

it.each([
  ['whose key is not set', '', ExitCode.usage, "'number 2': no API key: KEY_1 is not set"],
  ['whose key is refused', 'no-key-2', ExitCode.credential, /^'number 2': .*401/],
])(
  'law 6: an organisation %s fails alone, and its due days show as failed',
  async (_, key, exitCode, problem) => {
    const emulator = await platform()
    const fleet = [1, 2, 3].map((number) => listed(emulator, number))
    const { data } = await landed(fleet)
    const changed = fleet.map((each) => (each.name === 'number 2' ? { ...each, key } : each))
    const later = NOW + 2 * 86_400_000
    const { outcome } = await landed(changed, { data, now: later })
    expect(outcome.exitCode).toBe(exitCode)
    const problems = outcome.problems.map(({ message }) => message)
    expect(problems).toEqual([
      typeof problem === 'string' ? problem : expect.stringMatching(problem),
    ])
    const results = outcome.results.map(({ stoppedBy, failed }) => [stoppedBy !== null, failed > 0])
    expect(results).toEqual([
      [false, false],
      [true, true],
      [false, false],
    ])
    const days = [...(await LedgerFile.read(data, 'org_demo_2')).values()]
    expect(
      days
        .filter(({ status }) => status === 'failed')
        .map(({ day }) => day)
        .sort(),
    ).toEqual(['2026-01-18', '2026-01-18', '2026-01-19', '2026-01-19'])
    expect(await daysOf(data, 'org_demo_2')).toBe(2 * DAYS)
  },
)

it.each(['sync', 'normalize'])(
  'a signal after the stage %s is a deferral, although every day landed',
  async (last) => {
    const emulator = await platform()
    const { outcome } = await landed([listed(emulator, 1)], {
      work: sync,
      onEvent: (event, stop) => {
        if (event.type !== 'stage.finished' || event.stage !== last) return
        stop.abort(new DeferredError('stopped by SIGTERM'))
      },
    })
    expect(outcome.exitCode).toBe(ExitCode.deferred)
    expect(outcome.problems.map(({ message }) => message)).toEqual(['stopped by SIGTERM'])
  },
)

it('a signal after one of several organisations was refused is reported too', async () => {
  const emulator = await platform()
  const fleet = [listed(emulator, 1), { ...listed(emulator, 2), key: 'no-key-2' }]
  const { outcome } = await landed(fleet, {
    work: sync,
    onEvent: (event, stop) => {
      if (event.type === 'stage.finished') stop.abort(new DeferredError('stopped by SIGTERM'))
    },
  })
  expect(outcome.exitCode).toBe(ExitCode.credential)
  expect(outcome.problems.map(({ message }) => message)).toContain('stopped by SIGTERM')
})

it('law 3: an unexpected error of one organisation stops no other', async () => {
  const emulator = await platform()
  const { outcome, data } = await landed(
    [1, 2, 3].map((number) => listed(emulator, number)),
    {
      onEvent: (event) => {
        if (event.type === 'plan.made' && event.orgId === 'org_demo_2') throw new Error('a mistake')
      },
    },
  )
  expect(outcome.exitCode).toBe(ExitCode.partial)
  expect(outcome.problems.map(({ message }) => message)).toEqual(["'number 2': a mistake"])
  expect(await knownOrganisations(data)).toEqual(['org_demo', 'org_demo_3'])
})

it('a folder in the place of a file of one organisation is reported with a hint, for it alone', async () => {
  const emulator = await platform()
  const data = await temporaryFolder()
  await mkdir(join(data, 'state', 'governor', 'number%202.json'), { recursive: true })
  const fleet = [1, 2, 3].map((number) => listed(emulator, number))
  const { outcome } = await landed(fleet, { data })
  expect(outcome.exitCode).toBe(ExitCode.usage)
  const [problem, ...others] = outcome.problems
  expect(others).toEqual([])
  expect(problem).toBeInstanceOf(AppError)
  expect(String(problem)).toMatch(/'number 2': .*is a folder, but must be a file$/)
  expect(problem).toHaveProperty('hint', expect.stringContaining('Move it away'))
  expect(await knownOrganisations(data)).toEqual(['org_demo', 'org_demo_3'])
})

it('hook events wait while the only organisation has never answered', async () => {
  const emulator = await platform()
  const one = listed(emulator, 1)
  const data = await temporaryFolder()
  const spool = join(data, 'state', 'hooks', 'spool')
  await mkdir(spool, { recursive: true })
  const event = { event_id: 'a', recorded_at: '2026-01-17T01:00:00.000Z', input: {} }
  await writeFile(join(spool, 'a.json'), JSON.stringify(event))
  await landed([{ ...one, url: await closedPort() }], { data })
  expect(await readdir(spool)).toEqual(['a.json'])
  expect(await knownOrganisations(data)).toEqual([])
  await landed([one], { data })
  expect(await readdir(spool)).toEqual([])
  expect(await knownOrganisations(data)).toEqual(['org_demo'])
})

it('page buffers of organisations that no run loads are removed after two days', async () => {
  const emulator = await platform()
  const one = listed(emulator, 1)
  const { data } = await landed([one])
  const parts = join(data, 'state', 'parts')
  await mkdir(parts, { recursive: true })
  for (const [name, age] of [
    ['org_removed-users-2026-01-15.pages', 49],
    ['org_removed-users-2026-01-16.pages', 47],
  ] as const) {
    await writeFile(join(parts, name), 'rows')
    const at = new Date(NOW - age * 3_600_000)
    await utimes(join(parts, name), at, at)
  }
  await landed([one], { data })
  expect(await readdir(parts)).toEqual(['org_removed-users-2026-01-16.pages'])
})

it('organisations whose turn comes after the deadline are deferred without a request', async () => {
  const emulator = await platform()
  const fleet = [1, 2, 3].map((number) => listed(emulator, number))
  const { outcome } = await landed(fleet, { runForMs: 0 })
  expect(outcome).toMatchObject({ exitCode: ExitCode.deferred, hasNews: false })
  expect(outcome.problems.map(({ message }) => message)).toEqual([
    "'number 1', 'number 2', 'number 3': the time limit was reached",
  ])
  expect(emulator.requests).toEqual([])
})

it('organisations that no run came to are requested before the others in the next run', async () => {
  const emulator = await platform()
  const fleet = [1, 2, 3].map((number) => listed(emulator, number))
  const data = await temporaryFolder()
  const requested: string[] = []
  for (let run = 1; run <= fleet.length; run += 1) {
    const { outcome } = await landed(fleet, {
      data,
      atOnce: 1,
      onEvent: (event, stop) => {
        if (event.type !== 'plan.made') return
        requested.push(event.orgId)
        stop.abort(new DeferredError('stopped by a signal'))
      },
    })
    expect(outcome.exitCode).toBe(ExitCode.deferred)
    expect(outcome.results.map(({ name }) => name)).toEqual(fleet.map(({ name }) => name))
  }
  expect(requested).toEqual(['org_demo', 'org_demo_2', 'org_demo_3'])
})

it('an organisation that takes the whole time and never answers is requested last in the next run', async () => {
  let isDown = false
  const emulator = await platform(({ headers }) =>
    isDown && askedFor(headers) === 1
      ? Promise.resolve(new Response('', { status: 503 }))
      : undefined,
  )
  const fleet = [1, 2, 3].map((number) => listed(emulator, number))
  const { data } = await landed(fleet, { atOnce: 1 })
  isDown = true
  const planned: string[] = []
  for (const night of [1, 2]) {
    await landed(fleet, {
      data,
      atOnce: 1,
      now: NOW + night * 86_400_000,
      onEvent: (event, stop) => {
        if (event.type === 'plan.made') planned.push(event.orgId)
        if (event.type === 'request.retried') stop.abort(new DeferredError('no time is left'))
      },
    })
  }
  expect(planned).toEqual(['org_demo_2', 'org_demo_3'])
})

it('a run over some organisations neither requests nor records the others', async () => {
  const emulator = await platform()
  const fleet = [1, 2, 3].map((number) => listed(emulator, number))
  const { data } = await landed(fleet)
  const before = await LedgerFile.read(data, 'org_demo_2')
  const asked = emulator.requests.length
  const selection = { ...ANALYTICS, organisations: ['number 3'], refetch: true }
  const { outcome } = await landed(fleet, { data, selection })
  expect(outcome.results.map(({ name }) => name)).toEqual(['number 3'])
  expect(outcome.exitCode).toBe(ExitCode.complete)
  expect(await LedgerFile.read(data, 'org_demo_2')).toEqual(before)
  const { outcome: alone } = await landed(fleet, {
    data,
    selection: { ...selection, refetch: false },
  })
  expect(alone.exitCode).toBe(ExitCode.complete)
  expect(emulator.requests.length).toBeGreaterThan(asked)
})

it('law 2: with a fixed clock the second plan of every organisation is empty', async () => {
  const emulator = await platform()
  const fleet = [1, 2, 3, 4, 5, 6].map((number) => listed(emulator, number))
  const { data } = await landed(fleet, { atOnce: 3 })
  const { events } = await landed(fleet, { data, atOnce: 3 })
  const plans = events.flatMap((event) => (event.type === 'plan.made' ? [event.requests] : []))
  expect(plans).toEqual([0, 0, 0, 0, 0, 0])
})
