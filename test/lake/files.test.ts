import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError, UsageError } from '../../src/lib/errors.ts'
import { diskFault, explainedFault } from '../../src/lib/disk.ts'
import {
  fromPathSegment,
  nameOfTemporary,
  pathSegment,
  removeTemporaryFiles,
  temporaryPath,
  writeAtomic,
} from '../../src/lib/files.ts'
import { temporaryFolder } from '../support/helpers.ts'

describe('temporary files', () => {
  it.each(['/report.html', 'report.html', '/srv/report.html'])(
    'carry the whole name: %s',
    (path) => {
      expect(nameOfTemporary(basename(temporaryPath(path)))).toBe('report.html')
    },
  )

  it('are removed in every folder under every name that they can have, and no other file is', async () => {
    const data = await temporaryFolder()
    const folder = join(data, 'lake', 'raw')
    await mkdir(folder, { recursive: true })
    const temporary = temporaryPath(join(folder, 'data.parquet'))
    const name = temporary.slice(folder.length + 1)
    await mkdir(temporaryPath(join(folder, 'csv')))
    for (const left of [name, `${name}.wal`, `tmp_${name}`]) await writeFile(join(folder, left), '')
    const kept = ['.part', 'data.parquet', 'notes.part', 'tmp_data.parquet']
    for (const each of kept) await writeFile(join(folder, each), '')
    expect(await removeTemporaryFiles(data)).toBe(4)
    expect(await readdir(folder)).toEqual(kept)
  })
})

describe('a file that cannot be put in place', () => {
  it('leaves no temporary file', async () => {
    const folder = await temporaryFolder()
    const path = join(folder, '2026-02-03.json')
    await mkdir(path)
    await expect(writeAtomic(path, '{}')).rejects.toThrow(path)
    expect(await readdir(folder)).toEqual(['2026-02-03.json'])
  })
})

describe('a path segment', () => {
  it('is decoded to the text that it encodes, and that of no text sorts after all others', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        expect(fromPathSegment(pathSegment(text))).toBe(text)
        expect(pathSegment(text) < pathSegment('')).toBe(true)
      }),
    )
    expect(fromPathSegment(pathSegment(''))).toBe('')
  })

  it.each(['50%', '%zz', '%C3', 'a b', 'a%2fb', 'a~', ''])('is not %j', (name) => {
    expect(fromPathSegment(name)).toBeUndefined()
  })
})

describe('a file in a folder that cannot be made', () => {
  it('is refused with the first folder that the system refuses', async () => {
    const refusal = await writeAtomic('/proc/none/reports/a.html', '').catch(
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({ syscall: 'mkdir', path: '/proc/none' })
  })

  it('is refused with the file that stands where the folder must be', async () => {
    const file = join(await temporaryFolder(), 'notes.txt')
    await writeFile(file, '')
    await expect(writeAtomic(join(file, 'a.html'), '')).rejects.toMatchObject({
      code: 'EEXIST',
      path: file,
    })
  })
})

describe('a link to a folder that does not exist, such as a volume that is not mounted', () => {
  it('is named, and so is its target', async () => {
    const folder = await temporaryFolder()
    const [link, volume] = [join(folder, 'data'), join(folder, 'volume')]
    await symlink(volume, link)
    const refusal = await writeAtomic(join(link, 'a'), '').catch((error: unknown) => error)
    expect(explainedFault(refusal)).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(
        `${link} is a link to ${volume}, which does not exist`,
      ) as string,
    })
  })
})

describe('a disk error', () => {
  const system = (code: string): Error => Object.assign(new Error(`${code}: no`), { code })

  it.each([
    ['the code of a full disk', system('ENOSPC'), 'no space left on the disk'],
    [
      'the code of a full quota, as Node.js has it',
      system(`Unknown system error -${constants.errno.EDQUOT}`),
      'no space left in the disk quota',
    ],
    [
      'the code of a file size limit',
      system('EFBIG'),
      'no space left: the file has reached its size limit',
    ],
    ['the code of a read-only disk', system('EROFS'), 'the disk is read-only'],
    ['the message of DuckDB', new Error('IO Error: …: No space left on device'), 'no space left'],
    [
      'the cause of another error',
      new AppError('a.sql', { cause: system('ENOSPC') }),
      'no space left',
    ],
  ])('is recognised from %s', (_, error, what) => {
    const fault = diskFault(error)
    expect(fault).toMatchObject({ exitCode: 1, cause: expect.any(Error) as Error })
    expect(fault?.message).toContain(what)
  })

  it('is not assumed for other errors', () => {
    expect(diskFault(system('EACCES'))).toBeUndefined()
    expect(diskFault('No space left on device')).toBeUndefined()
  })

  it.each(['EACCES', 'EPERM'])(
    'of a refused access (%s) to a file is wrong configuration',
    (code) => {
      const refused = Object.assign(system(code), { path: '/data' })
      expect(explainedFault(refused)).toMatchObject({ exitCode: 2, cause: refused })
    },
  )

  it.each([
    ['ENOTDIR', 'lstat'],
    ['ENAMETOOLONG', 'open'],
    ['ENOENT', 'mkdir'],
    ['EEXIST', 'mkdir'],
  ])('of a path whose folder cannot be used (%s of %s) is wrong configuration', (code, syscall) => {
    const wrong = Object.assign(system(code), { path: '/a/b', syscall })
    expect(explainedFault(wrong)).toMatchObject({ exitCode: 2, cause: wrong })
  })

  it.each([
    ['the code of too many open files', system('EMFILE'), /^too many open files: /, 'ulimit -n'],
    [
      "DuckDB's message of too many open files",
      new Error('IO Error: Cannot open file "a": Too many open files'),
      /^too many open files: /,
      'ulimit -n',
    ],
    [
      'a package that is missing',
      Object.assign(new Error("Cannot find package 'yargs' imported from /a/b.js"), {
        code: 'ERR_MODULE_NOT_FOUND',
      }),
      /^the packages are not complete: Cannot find package 'yargs'/,
      'npm ci',
    ],
    [
      'a library that cannot be loaded',
      Object.assign(new Error('libduckdb.so: wrong ELF class'), { code: 'ERR_DLOPEN_FAILED' }),
      /^the packages are not complete: libduckdb.so/,
      'npm ci',
    ],
  ])('is explained with the next step: %s', (_, error, message, step) => {
    const fault = explainedFault(error)
    expect(fault).toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(message) as string,
      hint: expect.stringContaining(step) as string,
    })
    expect(explainedFault(fault)).toBe(fault)
  })

  it.each([
    ['a file that is gone', Object.assign(system('ENOENT'), { path: '/data', syscall: 'open' })],
    ['a refused port', system('EACCES')],
    ['another error of a file', Object.assign(system('EIO'), { path: '/data' })],
    ['an expected failure', new UsageError('a', { cause: system('EACCES') })],
  ])('that is %s stays as it is', (_, error) => {
    expect(explainedFault(error)).toBe(error)
  })
})
