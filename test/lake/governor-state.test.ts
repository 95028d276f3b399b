import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Learned } from '../../src/lib/learned.ts'
import { learnedLimits, learnedSizes } from '../../src/lake/state-file.ts'
import { temporaryFolder } from '../support/helpers.ts'

const LEARNED: Learned = {
  limit: {
    rate: 99.5,
    burst: 50,
    source: 'refusals',
    measuredAt: Date.parse('2026-03-10T06:00:00Z'),
  },
  concurrency: 8,
}

describe('learned limits', () => {
  it('are stored under the name of the organisation, whatever characters it has', async () => {
    const folder = await temporaryFolder()
    await learnedLimits.write(folder, '../ACME & söhne', LEARNED)
    await learnedLimits.write(folder, 'other', { limit: null, concurrency: 2 })
    expect(await readdir(join(folder, 'state', 'governor'))).toHaveLength(2)
    expect(await learnedLimits.read(folder, '../ACME & söhne')).toEqual(LEARNED)
    expect(new Map(await learnedLimits.readAll(folder))).toEqual(
      new Map([
        ['../ACME & söhne', LEARNED],
        ['other', { limit: null, concurrency: 2 }],
      ]),
    )
  })

  it('are absent before the first run', async () => {
    const folder = await temporaryFolder()
    expect(await learnedLimits.read(folder, 'default')).toBeUndefined()
    expect((await learnedLimits.readAll(folder)).size).toBe(0)
  })

  it.each([
    '',
    '{"limit":',
    '[]',
    '{"limit":null}',
    '{"limit":{"rate":-1,"burst":5,"source":"refusals","measured_at":"2026-03-10T06:00:00Z"},"concurrency":8}',
    '{"limit":{"rate":1,"burst":5,"source":"rumours","measured_at":"2026-03-10T06:00:00Z"},"concurrency":8}',
    '{"limit":{"rate":1,"burst":5,"source":"refusals","measured_at":"yesterday"},"concurrency":8}',
  ])('are learned again when their file is damaged: %s', async (text) => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'state', 'governor'), { recursive: true })
    await writeFile(join(folder, 'state', 'governor', 'default.json'), text)
    expect(await learnedLimits.read(folder, 'default')).toBeUndefined()
  })
})

it.each(['', '[]', '{"tokens":{"maxDays":3}}', window('1e300'), window('-1')])(
  'window sizes are learned again when their file is damaged: %s',
  async (text) => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'state', 'windows'), { recursive: true })
    await writeFile(join(folder, 'state', 'windows', 'org.json'), text)
    expect(await learnedSizes.read(folder, 'org')).toBeUndefined()
    await writeFile(join(folder, 'state', 'windows', 'org.json'), window('1767225600000'))
    expect((await learnedSizes.read(folder, 'org'))?.get('tokens')).toMatchObject({ maxDays: 3 })
  },
)

function window(time: string): string {
  return `{"tokens":{"maxDays":3,"tooWide":4,"learntAt":${time},"probedAt":${time}}}`
}
