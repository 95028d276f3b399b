import fs, { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { MANIFEST, replaceFolder } from '../../../src/serve/export/folder-swap.ts'
import { temporaryFolder } from '../../support/helpers.ts'

it('an export that cannot be put in place leaves the old folder there', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'csv')
  const replaceBy = (text: string): Promise<void> =>
    replaceFolder(path, (temporary) => writeFile(join(temporary, MANIFEST), text))
  await replaceBy('old')
  const { rename } = fs
  const useToRename = (renamed: typeof rename): void => {
    fs.rename = renamed
    syncBuiltinESMExports()
  }
  onTestFinished(() => {
    useToRename(rename)
  })
  useToRename((from, to) => {
    const isNew = typeof from === 'string' && from.endsWith('.part')
    return isNew ? Promise.reject(new Error('EBUSY: resource busy')) : rename(from, to)
  })
  await expect(replaceBy('new')).rejects.toMatchObject({
    message: `${path} cannot be replaced: EBUSY: resource busy`,
    hint: expect.stringContaining('The old files stay in place.') as string,
  })
  expect(await readdir(folder)).toEqual(['csv'])
  expect(await readFile(join(path, MANIFEST), 'utf8')).toBe('old')
})

it('an export keeps files in its folder that no export wrote', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'csv')
  const replaceBy = (table: string): Promise<void> =>
    replaceFolder(path, async (temporary) => {
      await writeFile(join(temporary, table), table)
      const manifest = JSON.stringify({ tables: [{ file: table }] })
      await writeFile(join(temporary, MANIFEST), manifest)
    })
  await replaceBy('old.csv')
  await writeFile(join(path, 'mine.xlsx'), 'mine')
  await mkdir(join(path, 'charts'))
  await writeFile(join(path, 'charts', 'a.png'), 'a')
  await replaceBy('new.csv')
  expect((await readdir(path)).sort()).toEqual(['charts', MANIFEST, 'mine.xlsx', 'new.csv'])
  expect(await readFile(join(path, 'charts', 'a.png'), 'utf8')).toBe('a')

  // a call that was killed after it had put the new folder in place
  await rename(path, join(folder, '.previous-csv'))
  await mkdir(path)
  await writeFile(join(path, MANIFEST), '{}')
  await replaceBy('last.csv')
  expect((await readdir(path)).sort()).toEqual(['charts', 'last.csv', MANIFEST, 'mine.xlsx'])
  expect(await readdir(folder)).toEqual(['csv'])

  // a call that was killed while it deleted the old folder
  await mkdir(join(folder, '.previous-csv'))
  await writeFile(join(folder, '.previous-csv', 'old.csv'), 'old.csv')
  await replaceBy('last.csv')
  expect(await readdir(path)).not.toContain('old.csv')
  expect(await readdir(folder)).toEqual(['csv'])
})
