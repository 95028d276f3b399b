import fs from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { HISTORY_START, addDays } from '../../src/lib/days.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import {
  LedgerFile,
  knownOrganisations,
  readJournal,
  type Interval,
  type Journal,
} from '../../src/lake/ledger.ts'
import { temporaryFolder } from '../support/helpers.ts'

function landed(offset: number, rowCount = 1): Interval {
  return {
    resource: 'users',
    day: addDays(HISTORY_START, offset),
    status: 'landed',
    fetchedAt: 1_768_500_000_000,
    rowCount,
    versions: 1,
    attempts: 1,
    requestId: 'r',
    file: 'f.parquet',
    sha256: 's',
    digest: 'd',
    error: null,
  }
}

function keyOf({ resource, day }: Interval): Pick<Interval, 'resource' | 'day'> {
  return { resource, day }
}

function contentOf({ intervals, lines, isCutOff, damaged }: Journal): unknown {
  return { intervals: [...intervals], lines, isCutOff, damaged }
}

function journalPath(data: string, orgId: string): string {
  return join(data, 'state', 'ledger', `${orgId}.ndjson`)
}

function neverWarned(message: string): void {
  throw new Error(message)
}

describe('the ledger', () => {
  it('remembers the last state of every interval', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'org/1', neverWarned)
    await ledger.record([landed(0), landed(1)])
    await ledger.record([landed(1, 9)])
    const again = await LedgerFile.read(data, 'org/1')
    expect([...again.values()].map((each) => each.rowCount)).toEqual([1, 9])
    expect(await knownOrganisations(data)).toEqual(['org/1'])
  })

  it('keeps every state when many are recorded concurrently', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'o', neverWarned)
    await Promise.all(Array.from({ length: 200 }, (_, index) => ledger.record([landed(index)])))
    expect((await LedgerFile.read(data, 'o')).size).toBe(200)
  })

  it('fails every record whose line is not written, also of those that share a write', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'o', neverWarned)
    const writing = ledger.record([landed(0)])
    await Promise.resolve() // it is being synced: the next two wait for it, and share a write
    vi.spyOn(fs, 'appendFileSync').mockImplementation(() => {
      throw new Error('the disk is full')
    })
    syncBuiltinESMExports()
    const others = await Promise.allSettled([1, 2].map((day) => ledger.record([landed(day)])))
    vi.restoreAllMocks()
    syncBuiltinESMExports()
    await writing
    expect(others.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await ledger.record([landed(3)])
    expect([...(await LedgerFile.read(data, 'o')).values()]).toEqual([landed(0), landed(3)])
  })

  it('ignores a line that a crash cut off, and appends after it', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'o', neverWarned)
    await ledger.record([landed(0)])
    await appendFile(join(data, 'state', 'ledger', 'o.ndjson'), '{"resource":"users","da')
    const resumed = await LedgerFile.open(data, 'o', neverWarned)
    await resumed.record([landed(1)])
    expect((await LedgerFile.read(data, 'o')).size).toBe(2)
  })

  it.each([
    ['not JSON', '}{ of another file'],
    ['not an interval', '{"resource":"users"}'],
    ['an interval of an invalid date', JSON.stringify({ ...landed(0), day: '2026-02-30' })],
    [
      'an interval with a path to another folder',
      JSON.stringify({ ...landed(0), file: '../../warehouse.duckdb' }),
    ],
    ['an interval of an unknown status', JSON.stringify({ ...landed(0), status: 'lost' })],
    ['a landed day without a file', JSON.stringify({ ...landed(0), file: null })],
    ['zeros', '\0\0\0\0'],
  ])('warns of a line that is %s by its number, and removes it', async (_, line) => {
    const data = await temporaryFolder()
    const path = join(data, 'state', 'ledger', 'o.ndjson')
    const ledger = await LedgerFile.open(data, 'o', neverWarned)
    await ledger.record([landed(1)])
    await appendFile(path, `${line}\n${JSON.stringify(landed(2))}\n`)
    expect([...(await LedgerFile.read(data, 'o')).values()]).toEqual([landed(1), landed(2)])
    const warnings: string[] = []
    await LedgerFile.open(data, 'o', (message) => warnings.push(message))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(`${path}: line 2 cannot be read`)
    const repaired = await LedgerFile.open(data, 'o', neverWarned)
    expect([...repaired.intervals.values()]).toEqual([landed(1), landed(2)])
  })

  it('is the same when it is read after each change as when it is read once', async () => {
    const data = await temporaryFolder()
    const line = fc.oneof(
      fc.nat(5).map((day) => JSON.stringify(landed(day))),
      fc.tuple(fc.nat(5), fc.nat(9)).map(([day, rows]) => JSON.stringify(landed(day, rows))),
      fc.nat(5).map((day) => JSON.stringify({ ...keyOf(landed(day)), status: 'missing' })),
      fc.constantFrom('', '{"resource":"users"}', '{"resource":"users","da'),
    )
    const journal = fc
      .tuple(fc.array(line, { maxLength: 6 }), fc.boolean())
      .map(([lines, isEnded]) => lines.join('\n') + (isEnded ? '\n' : ''))
    const change = fc.record({ text: journal, isReplaced: fc.boolean() })
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 5 }), async (changes) => {
        const name = `o${(runs += 1)}`
        let text = ''
        for (const [index, { text: more, isReplaced }] of changes.entries()) {
          text = isReplaced ? more : text + more
          const copy = `${name}-${index}`
          for (const each of [name, copy]) await writeAtomic(journalPath(data, each), text)
          const again = await readJournal(data, name)
          expect(contentOf(again)).toEqual(contentOf(await readJournal(data, copy)))
          again.intervals.clear()
        }
      }),
    )
  })

  it('forgets days until they are recorded again', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'o', neverWarned)
    await ledger.record([landed(0), landed(1)])
    await ledger.forget([landed(0)])
    expect([...(await LedgerFile.read(data, 'o')).values()]).toEqual([landed(1)])
    await ledger.record([landed(0, 7)])
    expect((await LedgerFile.read(data, 'o')).size).toBe(2)
  })

  it.each([
    ['a crash cut off its last line', '{"resource":"users","da'],
    ['a line is damaged', '}{ of another file\n'],
    ['it has grown long', '\n'.repeat(10_001)],
  ])(
    'still knows which version of a day is missing when it is rewritten because %s',
    async (_, more) => {
      const data = await temporaryFolder()
      const ledger = await LedgerFile.open(data, 'o', neverWarned)
      await ledger.record([landed(0), landed(1)])
      await ledger.forget([landed(0)])
      await appendFile(journalPath(data, 'o'), more)
      await LedgerFile.open(data, 'o', () => undefined)
      const rewritten = await readFile(journalPath(data, 'o'), 'utf8')
      expect(rewritten.trim().split('\n')).toHaveLength(2)
      const { intervals, forgotten } = await LedgerFile.open(data, 'o', neverWarned)
      expect([...intervals.values()]).toEqual([landed(1)])
      expect([...forgotten.values()]).toEqual([
        { ...keyOf(landed(0)), status: 'missing', file: 'f.parquet' },
      ])
    },
  )

  it('is rewritten without losing a state when its journal has grown long', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'o', neverWarned)
    const many = Array.from({ length: 10_001 }, (_, index) => landed(index % 20, index))
    await ledger.record(many)
    const compacted = await LedgerFile.open(data, 'o', neverWarned)
    const lines = (await readFile(join(data, 'state', 'ledger', 'o.ndjson'), 'utf8'))
      .trim()
      .split('\n')
    expect(lines).toHaveLength(20)
    expect([...compacted.intervals.values()].map((each) => each.rowCount)).toContain(10_000)
  })
})
