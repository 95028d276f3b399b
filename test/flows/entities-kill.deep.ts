import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rawFolder } from '../../src/lake/layout.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { DAY, night, NIGHT, platform, wholeLake } from './entities-night.ts'
import { ledgerOf } from './platform.ts'

const EVENT = {
  event_id: '1',
  recorded_at: '2026-03-10T23:00:00.000Z',
  input: { hook_event_name: 'Stop', session_id: 'nobody' },
}

it('law 3: a night that is killed after any file, or before its record, lands the same when it runs again', async () => {
  const emulator = await platform()
  const whole = await temporaryFolder()
  await night(emulator, whole)
  const before = await temporaryFolder()
  await cp(whole, before, { recursive: true })
  const spooled = async (data: string): Promise<void> => {
    await writeAtomic(
      join(data, 'state/hooks/spool/20260310T230000000Z-1.json'),
      JSON.stringify(EVENT),
    )
  }
  await spooled(whole)
  await night(emulator, whole, { now: NIGHT + DAY })
  const expected = await wholeLake(whole)
  const journal = 'state/ledger/org_demo.ndjson'
  const lines = (await readFile(join(whole, journal), 'utf8')).trimEnd().split('\n')
  const first = (await readFile(join(before, journal), 'utf8')).trimEnd().split('\n').length
  expect(lines.length - first).toBe(7)

  for (let recorded = first; recorded < lines.length; recorded += 1) {
    for (const isWritten of [true, false]) {
      const data = await temporaryFolder()
      await cp(whole, data, { recursive: true })
      await writeFile(
        join(data, journal),
        lines
          .slice(0, recorded)
          .map((line) => `${line}\n`)
          .join(''),
      )
      await rm(join(data, 'state/beside'), { recursive: true })
      await cp(join(before, 'state/beside'), join(data, 'state/beside'), { recursive: true })
      await spooled(data)
      const known = await ledgerOf(data, 'org_demo')
      for (const { resource, day, file } of (await ledgerOf(whole, 'org_demo')).values()) {
        const isOwn = known.get(`${resource}/${day}`)?.file === file
        if (isOwn || isWritten) continue
        await rm(rawFolder(data, 'org_demo', resource, day), { recursive: true })
      }
      const { result } = await night(emulator, data, { now: NIGHT + DAY })
      expect(result.failed).toBe(0)
      expect(await wholeLake(data), `${recorded} ${String(isWritten)}`).toEqual(expected)
    }
  }
})
