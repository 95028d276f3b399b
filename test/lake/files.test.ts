import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import { diskFault } from '../../src/lib/disk.ts'
import { temporaryPath, removeTemporaryFiles } from '../../src/lib/files.ts'
import { temporaryFolder } from '../support/helpers.ts'

describe('what a crash left aside', () => {
  it('is removed in every folder, by every name it may have, and nothing else is', async () => {
    const data = await temporaryFolder()
    const folder = join(data, 'lake', 'raw')
    await mkdir(folder, { recursive: true })
    const aside = temporaryPath(join(folder, 'data.parquet'))
    const name = aside.slice(folder.length + 1)
    await mkdir(temporaryPath(join(folder, 'csv')))
    for (const left of [name, `${name}.wal`, `tmp_${name}`]) await writeFile(join(folder, left), '')
    const kept = ['.part', 'data.parquet', 'notes.part', 'tmp_data.parquet']
    for (const each of kept) await writeFile(join(folder, each), '')
    expect(await removeTemporaryFiles(data)).toBe(4)
    expect(await readdir(folder)).toEqual(kept)
  })
})

describe('a fault of the disk', () => {
  const system = (code: string): Error => Object.assign(new Error(`${code}: no`), { code })

  it.each([
    ['by the system’s code', system('ENOSPC'), 'no space left on the disk'],
    ['by the quota', system('EDQUOT'), 'no space left in the disk quota'],
    ['by a limit of the shell', system('EFBIG'), 'no space left: a file may not grow further'],
    ['by a disk that is read-only', system('EROFS'), 'the disk is read-only'],
    ['by DuckDB’s words', new Error('IO Error: …: No space left on device'), 'no space left'],
    ['below another error', new AppError('a.sql', { cause: system('ENOSPC') }), 'no space left'],
  ])('is told %s', (_, error, what) => {
    const fault = diskFault(error)
    expect(fault).toMatchObject({ exitCode: 1, cause: expect.any(Error) as Error })
    expect(fault?.message).toContain(what)
  })

  it('is no other error', () => {
    expect(diskFault(system('EACCES'))).toBeUndefined()
    expect(diskFault('No space left on device')).toBeUndefined()
  })
})
