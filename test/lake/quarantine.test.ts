import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { moveAside } from '../../src/lake/quarantine.ts'
import { temporaryFolder } from '../support/helpers.ts'

/** Renames between folders fail as between file systems. */
function separateFolders(): void {
  const { rename } = fs
  const use = (other: typeof rename): void => {
    fs.rename = other
    syncBuiltinESMExports()
  }
  use((from, to) =>
    dirname(String(from)) === dirname(String(to))
      ? rename(from, to)
      : Promise.reject(Object.assign(new Error('EXDEV: cross-device link'), { code: 'EXDEV' })),
  )
  onTestFinished(() => {
    use(rename)
  })
}

it('a damaged file and a folder are moved to quarantine on another file system', async () => {
  const data = await temporaryFolder()
  const [file, folder] = [join(data, 'lake', 'a.parquet'), join(data, 'lake', 'base')]
  await fs.mkdir(folder, { recursive: true })
  await fs.writeFile(file, 'damaged')
  await fs.writeFile(join(folder, 'data.parquet'), 'base')
  separateFolders()
  const moved = await moveAside(file, join(data, 'quarantine', 'a.parquet'))
  const movedFolder = await moveAside(folder, join(data, 'quarantine', 'base'))
  expect(await fs.readFile(moved, 'utf8')).toBe('damaged')
  expect(await fs.readFile(join(movedFolder, 'data.parquet'), 'utf8')).toBe('base')
  expect(await fs.readdir(join(data, 'lake'))).toEqual([])
  expect((await fs.readdir(join(data, 'quarantine'))).sort()).toEqual(['a.parquet', 'base'])
})
