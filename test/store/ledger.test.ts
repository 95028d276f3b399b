import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HISTORY_START, addDays } from '../../src/core/days.ts'
import { LedgerFile, knownOrganisations, type Interval } from '../../src/store/ledger.ts'
import { temporaryFolder } from '../helpers.ts'

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

describe('the ledger', () => {
  it('remembers the last state of every interval', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'org/1')
    await ledger.record([landed(0), landed(1)])
    await ledger.record([landed(1, 9)])
    const again = await LedgerFile.read(data, 'org/1')
    expect([...again.values()].map((each) => each.rowCount)).toEqual([1, 9])
    expect(await knownOrganisations(data)).toEqual(['org/1'])
  })

  it('holds every state that was recorded at once', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'o')
    await Promise.all(Array.from({ length: 200 }, (_, index) => ledger.record([landed(index)])))
    expect((await LedgerFile.read(data, 'o')).size).toBe(200)
  })

  it('passes over a line that a crash cut off, and goes on after it', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'o')
    await ledger.record([landed(0)])
    await appendFile(join(data, 'state', 'ledger', 'o.ndjson'), '{"resource":"users","da')
    const resumed = await LedgerFile.open(data, 'o')
    await resumed.record([landed(1)])
    expect((await LedgerFile.read(data, 'o')).size).toBe(2)
  })

  it('is rewritten when its journal has grown long, and loses nothing', async () => {
    const data = await temporaryFolder()
    const ledger = await LedgerFile.open(data, 'o')
    const many = Array.from({ length: 10_001 }, (_, index) => landed(index % 20, index))
    await ledger.record(many)
    const compacted = await LedgerFile.open(data, 'o')
    const lines = (await readFile(join(data, 'state', 'ledger', 'o.ndjson'), 'utf8'))
      .trim()
      .split('\n')
    expect(lines).toHaveLength(20)
    expect([...compacted.intervals.values()].map((each) => each.rowCount)).toContain(10_000)
  })
})
