import fs, { readdir, readFile, writeFile } from 'node:fs/promises'
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
