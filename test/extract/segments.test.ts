import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withSegments } from '../../src/extract/segments.ts'
import { temporaryFolder } from '../helpers.ts'

const MEGABYTE = 1024 * 1024

it.each([
  ['a short file is read as it is', ['a\n', 'b\n'], 1],
  ['an empty file too', [], 1],
  ['a long one in pieces that end with a line', lines(100_000, 100), 3],
  ['a line longer than a piece stays whole', ['x\n', `${'y'.repeat(9 * MEGABYTE)}\n`, 'z\n'], 1],
  ['so do those around it', [...lines(50_000, 100), `${'y'.repeat(9 * MEGABYTE)}\n`, 'z\n'], 2],
])('%s', async (_, content, least) => {
  const folder = await temporaryFolder()
  const path = join(folder, 'part.ndjson')
  await writeFile(path, content.join(''))
  const read = await withSegments(path, (paths) =>
    Promise.all(paths.map((each) => readFile(each, 'utf8'))),
  )
  expect(read.length).toBeGreaterThanOrEqual(least)
  expect(read.join('') === content.join('')).toBe(true)
  expect(read.every((text) => text === '' || text.endsWith('\n'))).toBe(true)
  expect(await readdir(folder)).toEqual(['part.ndjson'])
})

function lines(count: number, length: number): string[] {
  return Array.from({ length: count }, (_, index) => `${String(index).padEnd(length - 1)}\n`)
}
