import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withLines, type RawRow } from '../../src/extract/row-lines.ts'
import { temporaryFolder } from '../helpers.ts'

const MEGABYTE = 1024 * 1024

const origin = {
  page: 2,
  fetchedAt: Date.parse('2026-03-10T06:00:00Z'),
  request: '/users?cursor=é',
  requestId: null,
  runId: 'run-1',
}

function rows(items: readonly string[]): RawRow[] {
  return items.map((item, ordinal) => ({ item, ordinal, origin: { ...origin, page: ordinal } }))
}

const many = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, index) => `"${String(index).padEnd(length)}"`)

it.each([
  ['no row is one empty file', [], 1],
  ['a few rows are one file', ['{"a":1e3}', '{ "b": "\u2028\r\\n😀" }'], 1],
  ['many are several, each of whole lines', many(30_000, 100), 4],
  ['a line longer than a file stays whole', ['1', `"${'y'.repeat(5 * MEGABYTE)}"`, '2'], 2],
])('%s', async (_, items, files) => {
  const folder = await temporaryFolder()
  const { texts, longestLine } = await withLines(join(folder, 'x.ndjson'), rows(items), (found) =>
    Promise.all(found.paths.map((path) => readFile(path, 'utf8'))).then((read) => ({
      texts: read,
      longestLine: found.longestLine,
    })),
  )
  expect(texts).toHaveLength(files)
  const lines = texts.join('').split('\n').slice(0, -1)
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    items.map((item, ordinal) => ({
      item,
      ordinal,
      page: ordinal,
      fetched_at: '2026-03-10T06:00:00.000Z',
      request: '/users?cursor=é',
      request_id: null,
      run_id: 'run-1',
    })),
  )
  expect(texts.every((text) => text === '' || text.endsWith('\n'))).toBe(true)
  expect(longestLine).toBe(Math.max(0, ...lines.map((line) => Buffer.byteLength(line) + 1)))
  expect(await readdir(folder)).toEqual([])
})

it('leaves no file when the work fails, or the rows', async () => {
  const folder = await temporaryFolder()
  const failing = (function* (): Generator<RawRow> {
    yield* rows(many(60_000, 100))
    throw new Error('the rows end here')
  })()
  const path = join(folder, 'x.ndjson')
  await expect(withLines(path, failing, () => Promise.resolve())).rejects.toThrow('end here')
  const fail = () => Promise.reject(new Error('no room'))
  await expect(withLines(path, rows(['1']), fail)).rejects.toThrow('no room')
  expect(await readdir(folder)).toEqual([])
})
