import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LockedError } from '../../src/core/errors.ts'
import { lock, lockOwner } from '../../src/store/lock.ts'
import { temporaryFolder } from '../helpers.ts'

const NOW = Date.parse('2026-03-01T02:00:00Z')

async function leave(data: string, text: string): Promise<void> {
  await mkdir(join(data, 'state'))
  await writeFile(join(data, 'state', 'lock'), text)
}

/** The number of a process that has ended. */
async function goneProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  if (child.pid === undefined) throw new Error('the process did not start')
  return child.pid
}

describe('the lock', () => {
  it('is one run’s at a time, and names its holder', async () => {
    const data = await temporaryFolder()
    const { release, wasLeft } = await lock(data, 'run-1', NOW)
    expect(wasLeft).toBe(false)
    const refusal = await lock(data, 'run-2', NOW).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(LockedError)
    expect(String(refusal)).toContain(`run run-1 (process ${process.pid} on ${hostname()}`)
    expect(await lockOwner(data)).toMatchObject({ runId: 'run-1' })
    await release()
    expect(await lockOwner(data)).toBeUndefined()
    await (await lock(data, 'run-2', NOW)).release()
  })

  it('once it is taken nothing is left of one that was cut off while it was written', async () => {
    const data = await temporaryFolder()
    await mkdir(join(data, 'state'))
    await writeFile(join(data, 'state', '.01234567-lock.part'), '{"pid":')
    await lock(data, 'run-1', NOW)
    expect(await readdir(join(data, 'state'))).toEqual(['lock'])
  })

  it('is one’s of many that ask at once', async () => {
    const data = await temporaryFolder()
    const asked = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => lock(data, `run-${index}`, NOW)),
    )
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of asked) {
      if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(LockedError)
    }
    expect(await readdir(join(data, 'state'))).toEqual(['lock'])
  })

  it.each([
    ['of a process that is gone', async () => ({ pid: await goneProcess(), begun: null })],
    ['of a process whose number another has now', () => ({ pid: process.pid, begun: '1' })],
  ])('%s is taken over', async (_, owner) => {
    const data = await temporaryFolder()
    const left = { host: hostname(), runId: 'old', since: 'then', ...(await owner()) }
    await leave(data, JSON.stringify(left))
    expect((await lock(data, 'run-2', NOW)).wasLeft).toBe(true)
    expect(await readFile(join(data, 'state', 'lock'), 'utf8')).toContain('run-2')
  })

  it('tells how long it has been held', async () => {
    const data = await temporaryFolder()
    await lock(data, 'run-1', NOW)
    const later = NOW + 185 * 60_000
    await expect(lock(data, 'run-2', later)).rejects.toThrow(
      /since 2026-03-01T02:00:00\.000Z, 3 h 5 min\)/,
    )
  })

  it.each(['', '{"pid":', '{"pid":1,"host":"elsewhere"}', 'null'])(
    'cut off by a crash, %j, is taken over',
    async (text) => {
      const data = await temporaryFolder()
      await leave(data, text)
      expect((await lock(data, 'run-2', NOW)).wasLeft).toBe(true)
    },
  )

  it('of another machine is never taken over', async () => {
    const data = await temporaryFolder()
    await leave(
      data,
      JSON.stringify({ pid: 1, begun: null, host: 'elsewhere', runId: 'old', since: 'then' }),
    )
    await expect(lock(data, 'run-2', NOW)).rejects.toThrow(/elsewhere/)
  })

  it('left by a crash is taken over by one of all that find it at once', async () => {
    const data = await temporaryFolder()
    const pid = await goneProcess()
    const left = { pid, begun: null, host: hostname(), runId: 'old', since: 'then' }
    for (let round = 0; round < 20; round += 1) {
      await rm(join(data, 'state'), { recursive: true, force: true })
      await leave(data, JSON.stringify(left))
      if (round % 2 === 1) await writeFile(join(data, 'state', 'lock.over'), JSON.stringify(left))
      const takers = Array.from({ length: 12 }, (_, index) => lock(data, `run-${index}`, NOW))
      const taken = (await Promise.allSettled(takers)).filter(
        ({ status }) => status === 'fulfilled',
      )
      expect(taken).toHaveLength(1)
      expect(await readdir(join(data, 'state'))).toEqual(['lock'])
    }
  })
})
