import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LedgerFile } from '../../src/lake/ledger.ts'
import { HISTORY_START } from '../../src/lib/days.ts'
import { LockedError } from '../../src/lib/errors.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { leaseStatus, lock, type LeaseOptions } from '../../src/lib/lock.ts'
import { thisPlace, thisProcess } from '../../src/lib/place.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { ELSEWHERE, leaveLease, waiting } from '../support/lease.ts'

const HOUR = 3_600_000
const place = thisPlace()

async function stage() {
  const data = await temporaryFolder()
  return { data, state: join(data, 'state'), path: join(data, 'state', 'lock') }
}

function take(data: string, runId: string) {
  return lock(data, waiting(runId).options)
}

/** The number of a process that has ended. */
async function goneProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  if (child.pid === undefined) throw new Error('the process did not start')
  return child.pid
}

describe('the lease', () => {
  it('is held by one run at a time, and names its holder', async () => {
    const { data } = await stage()
    const { release, wasLeft } = await take(data, 'run-1')
    expect(wasLeft).toBe(false)
    const refusal = await take(data, 'run-2').catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(LockedError)
    expect(String(refusal)).toContain(`run run-1 (process ${process.pid} on ${hostname()}`)
    expect(String(refusal)).toMatch(
      /since 2026-03-01T02:00:00\.000Z, less than a minute\), last heartbeat 20/,
    )
    expect(await leaseStatus(data, Date.now())).toMatchObject({ runId: 'run-1', state: 'alive' })
    await release()
    expect(await leaseStatus(data, Date.now())).toBeUndefined()
    await (await take(data, 'run-2')).release()
  })

  it('removes the temporary file of a lease that was cut off while it was written', async () => {
    const { data, state } = await stage()
    await mkdir(state)
    await writeFile(join(state, '.01234567-lock.part'), '{"pid":')
    await take(data, 'run-1')
    expect(await readdir(state)).toEqual(['lock'])
  })

  it('goes to one of many runs that start together', async () => {
    const { data, state } = await stage()
    const asked = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => take(data, `run-${index}`)),
    )
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of asked) {
      if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(LockedError)
    }
    expect(await readdir(state)).toEqual(['lock'])
  })

  it('says how long it has been held', async () => {
    const { data } = await stage()
    await take(data, 'run-1')
    const later = Date.parse('2026-03-01T02:00:00Z') + 185 * 60_000
    await expect(lock(data, waiting('run-2', later).options)).rejects.toThrow(/, 3 h 5 min\)/)
  })

  it('is renewed while the main thread is busy, and its content stays the same', async () => {
    const { data, path } = await stage()
    const { options } = waiting('run-1')
    const { release } = await lock(data, { ...options, beatMs: 20 })
    const content = await readFile(path, 'utf8')
    const before = statSync(path, { bigint: true }).mtimeNs
    const end = Date.now() + 60_000
    while (statSync(path, { bigint: true }).mtimeNs === before && Date.now() < end) continue
    expect(statSync(path, { bigint: true }).mtimeNs).not.toBe(before)
    expect(await readFile(path, 'utf8')).toBe(content)
    await release()
  })
})

describe('the lease of a process on this host', () => {
  it.each([
    ['that has ended', async () => ({ pid: await goneProcess() })],
    ['whose process id another process has now', () => ({ pid: process.pid, begun: '1' })],
  ])('%s is taken over at once', async (_, owner) => {
    const { data, path } = await stage()
    await leaveLease(path, await owner())
    const next = waiting('run-2')
    expect((await lock(data, next.options)).wasLeft).toBe(true)
    expect(next.slept()).toBe(0)
    expect(await readFile(path, 'utf8')).toContain('run-2')
  })

  it('is never taken over while the process is alive, however long it is silent', async () => {
    const { data, path } = await stage()
    await leaveLease(path, thisProcess(place), 999 * HOUR)
    await expect(take(data, 'run-2')).rejects.toThrow(LockedError)
    expect(await readFile(path, 'utf8')).toContain('old')
  })
})

describe('the lease of a process elsewhere', () => {
  const places = [
    ['on another host', { ...place, host: 'elsewhere' }],
    ['of an earlier boot of this host', { ...place, boot: '5a7e' }],
    ['in another container of this host', { ...place, pidNamespace: 'pid:[4026530000]' }],
    [
      'on a host that reports no boot or namespace',
      { host: place.host, boot: null, pidNamespace: null },
    ],
  ] as const

  it.each(places)('%s is taken over when it stays silent for two minutes', async (_, where) => {
    const { data, path } = await stage()
    const holder = thisProcess(place)
    await leaveLease(path, { ...holder, ...where })
    const next = waiting('run-2')
    expect((await lock(data, next.options)).wasLeft).toBe(true)
    expect(next.slept()).toBe(120_000)
    expect(next.warnings).toEqual([
      expect.stringMatching(
        /is in use by run old \(process \d+ on .*, last heartbeat .*; waiting up to 120 s/,
      ),
    ])
  })

  it.each(places)('%s is not taken over when it is renewed', async (_, where) => {
    const { data, path } = await stage()
    // No process on this host has its id.
    await leaveLease(path, { pid: await goneProcess(), ...where }, 5 * HOUR)
    const beat = async (slept: number): Promise<void> => {
      // Its clock is hours behind.
      const at = new Date(Date.now() - 5 * HOUR + slept)
      if (slept % 5_000 === 0) await utimes(path, at, at)
    }
    const next = waiting('run-2', undefined, beat)
    await expect(lock(data, next.options)).rejects.toThrow(/run old \(process \d+ on /)
    expect(next.slept()).toBe(5_000)
    expect(await readdir(join(data, 'state'))).toEqual(['lock'])
  })

  it('is watched for 15 s only when it has been silent for hours, as in a restored copy', async () => {
    const { data, path } = await stage()
    await leaveLease(path, ELSEWHERE, 5 * HOUR)
    const next = waiting('run-2')
    expect((await lock(data, next.options)).wasLeft).toBe(true)
    expect(next.slept()).toBe(15_000)
  })

  it.each(['', '{"pid":', '{"pid":1,"host":"elsewhere"}', 'null'])(
    'that a crash cut off, %j, is taken over when it stays silent',
    async (text) => {
      const { data, path } = await stage()
      await leaveLease(path, {})
      await writeFile(path, text)
      expect((await take(data, 'run-2')).wasLeft).toBe(true)
    },
  )

  it('of an earlier version is taken over when it stays silent', async () => {
    const { data, path } = await stage()
    await leaveLease(path, {})
    await writeFile(
      path,
      JSON.stringify({ pid: 1, begun: null, host: 'elsewhere', runId: 'old', since: 'then' }),
    )
    expect((await take(data, 'run-2')).wasLeft).toBe(true)
  })

  it('that is released while it is watched does not count as abandoned', async () => {
    const { data, path } = await stage()
    await leaveLease(path, ELSEWHERE)
    const next = waiting('run-2', undefined, () => rm(path, { force: true }))
    expect((await lock(data, next.options)).wasLeft).toBe(false)
    expect(next.slept()).toBe(1_000)
  })

  it('is not waited for any longer when the run is stopped', async () => {
    const { data, path } = await stage()
    await leaveLease(path, ELSEWHERE)
    const { options } = waiting('run-2')
    const sleep = () => Promise.reject(new Error('stopped by SIGTERM'))
    const world = { ...options.world, sleep }
    await expect(lock(data, { ...options, world })).rejects.toThrow('stopped by SIGTERM')
    expect(await readdir(join(data, 'state'))).toEqual(['lock'])
  })
})

describe('an abandoned lease', () => {
  it.each([
    ['on this host', {}, 0],
    ['elsewhere, or an abandoned takeover of it,', ELSEWHERE, 5 * HOUR],
  ])('%s goes to exactly one of the runs that find it together', async (_, owner, ageMs) => {
    const { data, state, path } = await stage()
    for (let round = 0; round < 10; round += 1) {
      await rm(state, { recursive: true, force: true })
      await leaveLease(path, owner, ageMs)
      if (round % 2 === 1) await leaveLease(`${path}.over`, owner, ageMs)
      const takers = Array.from({ length: 12 }, (_each, index) => take(data, `run-${index}`))
      const taken = await Promise.allSettled(takers)
      expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await readdir(state)).toEqual(['lock'])
      for (const each of taken) if (each.status === 'fulfilled') await each.value.release()
    }
  })

  it('law 12: goes to exactly one run, on whatever hosts runs wait or have crashed', async () => {
    const anywhere = fc.constantFrom(place, ELSEWHERE, { ...place, host: 'third' })
    const crashed = fc.array(anywhere, { minLength: 1, maxLength: 3 })
    const waiters = fc.array(anywhere, { minLength: 2, maxLength: 4 })
    const law = fc.asyncProperty(crashed, waiters, async (holders, places) => {
      const { data, state, path } = await stage()
      for (const [depth, where] of holders.entries())
        await leaveLease(path + '.over'.repeat(depth), where, 5 * HOUR)
      // Time passes fifty times as fast for watchers and heartbeats.
      const inPlace = (where: typeof place, index: number): LeaseOptions => {
        const { options } = waiting(`run-${index}`, undefined, () => delay(20))
        return { ...options, place: where, beatMs: 20 }
      }
      const taken = await Promise.allSettled(
        places.map((where, index) => lock(data, inPlace(where, index))),
      )
      const leases = taken.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      expect(leases).toHaveLength(1)
      leases[0]?.confirm()
      expect(leases[0]?.wasLeft).toBe(true)
      await leases[0]?.release()
      expect(await readdir(state)).toEqual([])
    })
    await fc.assert(law, { numRuns: 12 })
  })
})

describe('the holder of a lost lease', () => {
  async function holder() {
    const { data, path } = await stage()
    const messages: string[] = []
    const onLost = ({ message }: Error): void => void messages.push(message)
    const { options } = waiting('run-1')
    const lease = await lock(data, { ...options, beatMs: 20, onLost })
    return { data, path, lease, messages }
  }

  it('can commit nothing more in the data folder', async () => {
    const { data, path, lease } = await holder()
    const file = join(data, 'lake', 'day.parquet')
    await writeAtomic(file, 'before')
    await leaveLease(path, ELSEWHERE)
    await expect(writeAtomic(file, 'after')).rejects.toThrow(
      /the lease of run run-1 was taken over by run old .*; the run stopped/,
    )
    expect(await readFile(file, 'utf8')).toBe('before')
    expect(await readdir(join(data, 'lake'))).toEqual(['day.parquet'])
    await lease.release()
    expect(await readFile(path, 'utf8')).toContain('"old"')
  })

  it('law 12: records nothing more in the ledger', async () => {
    const { data, path, lease } = await holder()
    const ledger = await LedgerFile.open(data, 'o', (message) => expect.fail(message))
    const day = HISTORY_START
    await ledger.forget([{ resource: 'users', day, file: 'before.parquet' }])
    const journal = join(data, 'state', 'ledger', 'o.ndjson')
    const before = await readFile(journal, 'utf8')
    await leaveLease(path, ELSEWHERE)
    await expect(
      ledger.forget([{ resource: 'users', day, file: 'after.parquet' }]),
    ).rejects.toThrow(LockedError)
    expect(await readFile(journal, 'utf8')).toBe(before)
    await lease.release()
  })

  it.each([
    ['was taken over', (path: string) => leaveLease(path, ELSEWHERE)],
    ['is gone', (path: string) => rm(path)],
  ])('notices at its next heartbeat that the lease %s', async (how, act) => {
    const { path, lease, messages } = await holder()
    await act(path)
    for (let waited = 0; messages.length === 0 && waited < 3_000; waited += 1) await delay(10)
    expect(messages[0]).toContain(how)
    await lease.release()
  })
})
