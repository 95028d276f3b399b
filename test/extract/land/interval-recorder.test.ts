import { expect, it } from 'vitest'
import { ApiError } from '../../../src/client/index.ts'
import { IntervalRecorder } from '../../../src/extract/land/interval-recorder.ts'
import { contentOf } from '../../../src/extract/land/row-lines.ts'
import { LedgerFile } from '../../../src/lake/ledger.ts'
import { parseDay } from '../../../src/lib/days.ts'
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

it('an old day that is refused and then answered in one run does not count as refused', async () => {
  const ledger = await LedgerFile.open(await temporaryFolder(), 'o', () => undefined)
  const rule = { plannedAt: NOW, isForced: false }
  const recorder = new IntervalRecorder(ledger, 'o', testWorld(NOW), rule)
  const last = { page: 1, fetchedAt: NOW, request: '/', requestId: null, runId: 'r' }
  const landed = { content: contentOf([], last), file: 'f', sha256: 's', versions: 1, isNew: true }
  await recorder.landed('tokens', [{ ...landed, day: OLD }])
  await recorder.failed('tokens', [OLD], new ApiError('404', 404, NO_PROBLEM))
  await recorder.landed(
    'tokens',
    [OLD, NEW].map((day) => ({ ...landed, day })),
  )
  await recorder.endRefusals()
  expect(ledger.intervals.get(`tokens/${OLD}`)).toMatchObject({ attempts: 2, error: null })
})
