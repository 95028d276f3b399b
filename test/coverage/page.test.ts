import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import { hasTest } from '../support/titles.ts'
import { page, pageRows, titlesMade } from './page.ts'

const rows = [...pageRows().values()].flat()

describe('docs/api-coverage.md', () => {
  it('is up to date with the data: `npm run docs:coverage` writes it', async () => {
    await expect(page()).toMatchFileSnapshot(join(packageRoot, 'docs', 'api-coverage.md'))
  })

  it('has more than 500 rows, each once', () => {
    const keys = rows.map(({ specified, file, test }) => [specified, file, test].join('\n'))
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
    expect(keys.length).toBeGreaterThan(500)
  })

  it('names only tests that exist', () => {
    const made = titlesMade()
    const missing = rows.filter(({ file, test }) => !hasTest(join(packageRoot, file), test, made))
    expect(missing).toEqual([])
  })

  it('names no test that covers the stand-in platform alone', () => {
    expect(rows.filter(({ file }) => file.startsWith('test/emulator/'))).toEqual([])
  })
})
