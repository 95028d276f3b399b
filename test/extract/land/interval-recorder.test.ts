import { expect, it } from 'vitest'
import { ApiError } from '../../../src/client/index.ts'
import { IntervalRecorder, type LandedDay } from '../../../src/extract/land/interval-recorder.ts'
import { contentOf } from '../../../src/extract/land/row-lines.ts'
import { LedgerFile } from '../../../src/lake/ledger.ts'
import { parseDay, type Day } from '../../../src/lib/days.ts'
import { temporaryFolder, testWorld } from '../../support/helpers.ts'

const NOW = Date.parse('2026-03-10T05:00:00Z')
const [OLD, NEW] = [parseDay('2026-01-20', 'a day'), parseDay('2026-03-09', 'a day')]

const NO_PROBLEM = {
  title: null,
  detail: null,
  status: null,
  requestId: null,
  metadata: null,
}

const LAST = { page: 1, fetchedAt: NOW, request: '/', requestId: null, runId: 'r' }
const landed = (day: Day): LandedDay => {
  return { day, content: contentOf([], LAST), file: 'f', sha256: 's', versions: 1, isNew: true }
}

const refusal = new ApiError('404', 404, NO_PROBLEM)

/** A ledger in which the old day has landed, and what records in it during a later run. */
async function stage() {
  const ledger = await LedgerFile.open(await temporaryFolder(), 'o', () => undefined)
  const rule = { plannedAt: NOW, isForced: false }
  const nextRun = () => new IntervalRecorder(ledger, testWorld(NOW), rule)
  await nextRun().landed('tokens', [landed(OLD)])
  return { ledger, nextRun }
}

it('an old day that is refused and then answered in one run does not count as refused', async () => {
  const { ledger, nextRun } = await stage()
  const recorder = nextRun()
  await recorder.failed('tokens', [OLD], refusal)
  await recorder.landed('tokens', [OLD, NEW].map(landed))
  await recorder.endRefusals()
  expect(ledger.intervals.get(`tokens/${OLD}`)).toMatchObject({ attempts: 2, error: null })
})

it('law 2: a day that came back much smaller waits for no confirmation once it is refused', async () => {
  const { ledger, nextRun } = await stage()
  const known = ledger.intervals.get(`tokens/${OLD}`)
  if (known === undefined) expect.fail('the day is not recorded')
  const served = { digest: 'smaller', rowCount: 1, seenAt: NOW - 7_200_000 }
  await nextRun().pending({ known, served, sizeBefore: 10, size: 1 })
  expect(ledger.intervals.get(`tokens/${OLD}`)).toMatchObject({ suspect: served })
  const recorder = nextRun()
  await recorder.failed('tokens', [OLD], refusal)
  await recorder.landed('tokens', [landed(NEW)])
  await recorder.endRefusals()
  const refused = ledger.intervals.get(`tokens/${OLD}`)
  expect(refused).toMatchObject({ status: known.status, file: known.file, refusedAt: NOW })
  expect(refused).not.toHaveProperty('suspect')
})
