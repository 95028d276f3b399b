import fs from 'node:fs'
import { cp } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { writeAtomic } from '../../src/lib/files.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { DAY, night, NIGHT, platform, wholeLake } from './entities-night.ts'

const EVENT = {
  event_id: '1',
  recorded_at: '2026-03-10T23:00:00.000Z',
  input: { hook_event_name: 'Stop', session_id: 'nobody' },
}

async function copyOf(data: string): Promise<string> {
  const copy = await temporaryFolder()
  await cp(data, copy, { recursive: true })
  return copy
}

it('law 3: a night that is killed before any file, or before its record, lands the same when it runs again', async () => {
  const emulator = await platform()
  const before = await temporaryFolder()
  await night(emulator, before)
  const path = join(before, 'state/hooks/spool/20260310T230000000Z-1.json')
  await writeAtomic(path, JSON.stringify(EVENT))
  const again = (data: string) => night(emulator, data, { now: NIGHT + DAY })
  const whole = await copyOf(before)
  await again(whole)
  const expected = await wholeLake(whole)

  for (let writes = 0; ; writes += 1) {
    const data = await copyOf(before)
    const isKilled = await isKilledAfter(writes, () => again(data))
    if (isKilled) expect((await again(data)).result.failed).toBe(0)
    expect(await wholeLake(data), `killed after ${writes} writes`).toEqual(expected)
    if (isKilled) continue
    expect(writes).toBe(14)
    return
  }
})

/**
 * Whether a run puts more files in raw and lines in the ledger than these: then it ends as if it
 * were killed before the next one.
 */
async function isKilledAfter(writes: number, run: () => Promise<unknown>): Promise<boolean> {
  const { appendFileSync, renameSync } = fs
  const killed = new Error('killed')
  let left = writes
  const count = (path: fs.PathOrFileDescriptor): void => {
    if (/[/\\](lake[/\\]raw|state[/\\]ledger)[/\\]/.test(String(path)) && (left -= 1) < 0)
      throw killed
  }
  vi.spyOn(fs, 'appendFileSync').mockImplementation((path, ...rest) => {
    count(path)
    appendFileSync(path, ...rest)
  })
  vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    count(String(to))
    renameSync(from, to)
  })
  syncBuiltinESMExports()
  try {
    await run()
    return false
  } catch (error) {
    expect(error).toBe(killed)
    return true
  } finally {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  }
}
