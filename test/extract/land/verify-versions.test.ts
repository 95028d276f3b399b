import fs from 'node:fs'
import { readdir } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { expect, it, vi } from 'vitest'
import type { Day } from '../../../src/lib/days.ts'
import { Database } from '../../../src/lib/duckdb.ts'
import { explainedFault } from '../../../src/lib/disk.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { contentOf } from '../../../src/extract/land/row-lines.ts'
import { LandingDatabase, landVersions } from '../../../src/extract/land/raw-writer.ts'
import { damagedFiles, quarantineDamaged } from '../../../src/extract/land/verify-versions.ts'
import { intervalKey, type Interval, type Ledger } from '../../../src/lake/ledger.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const RAW = { resource: 'tokens', day: '2026-03-09' as Day }
const NOW = Date.parse('2026-03-10T06:00:00Z')
const never = (message: string): never => expect.fail(message)

/** A data folder with one intact version, and the ledger that knows its checksum. */
async function stage() {
  const data = await temporaryFolder()
  await using database = new LandingDatabase(data)
  const to = { dataFolder: data, orgId: 'o', ledger: new Map(), database, warn: never }
  const last = { page: 1, fetchedAt: NOW, request: '/', requestId: null, runId: 'run' }
  const content = contentOf([{ item: '{"n":1}', ordinal: 0, origin: last }], last)
  const [landed] = await landVersions(to, RAW.resource, [{ day: RAW.day, content }])
  if (landed === undefined) expect.fail('nothing landed')
  const { file, sha256 } = landed
  const known: Interval = {
    ...RAW,
    status: 'landed',
    fetchedAt: NOW,
    rowCount: 1,
    versions: 1,
    attempts: 1,
    requestId: null,
    file,
    sha256,
    digest: content.digest,
    error: null,
  }
  const ledger: Ledger = new Map([[intervalKey(RAW.resource, RAW.day), known]])
  return { data, files: [{ ...RAW, file }], ledger }
}

type Stage = Awaited<ReturnType<typeof stage>>

/** Expects that quarantine refuses to judge the file, which stays, and is intact. */
async function expectKept({ data, files }: Stage, known: Ledger, message: string): Promise<void> {
  const before = await readdir(data, { recursive: true })
  const error: unknown = await quarantineDamaged(data, 'o', files, known, never).catch(
    (thrown: unknown) => thrown,
  )
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  const explained = explainedFault(error)
  expect(explained).toBeInstanceOf(AppError)
  expect(String(explained)).toContain(message)
  expect(await readdir(data, { recursive: true })).toEqual(before)
  expect(await damagedFiles(data, 'o', files, known)).toEqual([])
}

it.each([
  ['EMFILE', 'too many open files'],
  ['ENFILE', 'too many open files'],
  ['ENOMEM', 'the machine has too little memory'],
  ['EACCES', 'this user may not access a file'],
  ['EPERM', 'this user may not access a file'],
])(
  'law 3: a file that the machine refuses to open with %s is not damaged',
  async (code, explanation) => {
    const staged = await stage()
    vi.spyOn(fs, 'openSync').mockImplementation((path) => {
      throw Object.assign(new Error(`${code}: refused`), { code, path })
    })
    syncBuiltinESMExports()
    await expectKept(staged, staged.ledger, `${explanation}: ${code}: refused`)
  },
)

it.each([
  'Out of Memory Error: failed to allocate data of size 16.0 MiB (15.9 MiB/16.0 MiB used)',
  'INTERRUPT Error: Interrupted!',
  'IO Error: Cannot open file "a.parquet": Too many open files',
  'IO Error: No files found that match the pattern "a.parquet"',
])('law 3: a file whose rows cannot be verified because of %j is not damaged', async (message) => {
  const staged = await stage()
  vi.spyOn(Database.prototype, 'rows').mockRejectedValueOnce(new Error(message))
  await expectKept(staged, new Map(), `cannot be verified: ${message}`)
})
