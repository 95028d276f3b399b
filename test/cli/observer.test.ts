import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createObserver, type LogMode } from '../../src/cli/job.ts'
import { temporaryFolder } from '../support/helpers.ts'

/** It does not look like a key: it is redacted because it is the credential. */
const KEY = 'Qx7Zp9vL2mR8tN4kW6yB1sD5'

async function stage(log: LogMode, isTty: boolean, columns = () => 80) {
  const dataFolder = await temporaryFolder()
  const shown: string[] = []
  const show = (text: string): void => void shown.push(text)
  const observer = createObserver(
    {
      runId: 'run-1',
      command: 'run',
      dataFolder,
      log,
      secrets: [KEY],
      now: () => Date.parse('2026-02-03T05:00:00Z'),
    },
    {
      out: show,
      data: show,
      err: show,
      draw: show,
      isTty,
      columns,
      outWidth: undefined,
      hasColour: false,
      ask: null,
      environment: {},
      cwd: dataFolder,
      now: () => Date.now(),
    },
  )
  return { observer, shown, dataFolder }
}

it.each<[LogMode, boolean]>([
  ['text', false],
  ['json', false],
  ['auto', true],
])(
  'law 11: a key in an event appears in no log, summary or run record: --log %s',
  async (log, isTty) => {
    const { observer, shown, dataFolder } = await stage(log, isTty)
    await observer.open()
    observer.emit({ type: 'warning', message: `the file quotes ${KEY} today` })
    const { text } = await observer.close(1, new Error(`${KEY} is unknown`))
    const record = await readFile(join(dataFolder, 'runs', 'run-1.json'), 'utf8')
    for (const each of [shown.join(''), text, record]) {
      expect(each).toContain('the file quotes [redacted] today')
      expect(each).not.toContain(KEY)
    }
  },
)

it('the live view fits a terminal that was made narrower during the run', async () => {
  let columns = 80
  const { observer, shown } = await stage('auto', true, () => columns)
  const addressed = { name: 'org', addresses: ['https://api.example'], keySource: 'KEY' } as const
  const reasons = { missing: 9, failed: 0, recheck: 0, forced: 0 }
  observer.emit({ type: 'plan.made', orgId: 'org', requests: 9, days: { tokens: 9 }, reasons })
  for (const width of [80, 24]) {
    columns = width
    observer.emit({ type: 'organisation.addressed', ...addressed })
    const drawn = shown.at(-1)?.split('\n').at(-2)
    expect(drawn).toBe('tokens  0/9 days  0 rows'.slice(0, width - 1))
  }
})
