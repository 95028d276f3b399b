import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Day } from '../../../src/lib/days.ts'
import { contentOf } from '../../../src/extract/land/row-lines.ts'
import { landVersions, LandingDatabase } from '../../../src/extract/land/raw-writer.ts'
import { quarantineFolder, rawFolder } from '../../../src/lake/layout.ts'
import { moveAside } from '../../../src/lake/quarantine.ts'
import { versionsIn } from '../../../src/lake/raw-days.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const DAY = '2026-03-09' as Day
const NOW = Date.parse('2026-03-10T06:00:00Z')

async function stage() {
  const dataFolder = await temporaryFolder()
  const database = new LandingDatabase(dataFolder)
  onTestFinished(() => database[Symbol.asyncDispose]())
  const warn = (message: string): never => expect.fail(message)
  const lake = { dataFolder, orgId: 'o', ledger: new Map(), database, warn }
  const land = async (item: string, fetchedAt: number): Promise<string> => {
    const origin = { page: 1, fetchedAt, request: '/', requestId: null, runId: 'run' }
    const content = contentOf([{ item, ordinal: 0, origin }], origin)
    const [landed] = await landVersions(lake, 'tokens', [{ day: DAY, content }])
    return landed?.file ?? ''
  }
  return { dataFolder, land }
}

it.each([
  ['a second earlier', NOW - 1000],
  ['at the same time', NOW],
  ['a day earlier', NOW - 86_400_000],
])(
  'law 8: the version landed last is the newest, though a clock set back says that it was fetched %s',
  async (_, at) => {
    const { dataFolder, land } = await stage()
    const first = await land('{"n":1}', NOW)
    const second = await land('{"n":2}', at)
    expect(versionsIn(rawFolder(dataFolder, 'o', 'tokens', DAY))).toEqual([first, second])
  },
)

it('law 8: the version landed last is newer than one in quarantine, though a clock was set back', async () => {
  const { dataFolder, land } = await stage()
  const damaged = await land('{"n":1}', NOW)
  const to = quarantineFolder(dataFolder, 'o', 'tokens', DAY)
  await moveAside(join(rawFolder(dataFolder, 'o', 'tokens', DAY), damaged), join(to, damaged))
  const next = await land('{"n":2}', NOW - 1000)
  expect([next, damaged].sort()).toEqual([damaged, next])
})
