import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { packageRoot } from '../../src/lib/package.ts'
import { temporaryFolder } from '../support/helpers.ts'

const run = promisify(execFile)

const JOURNAL = 'state/ledger/o.ndjson'

/**
 * What a script does on the disk, in order. It is a process of its own, because modules hold the
 * function that syncs from their beginning; `folder` and `load` are given.
 */
async function orderOf(script: string): Promise<string[]> {
  const recorder = pathToFileURL(join(packageRoot, 'test', 'support', 'disk-order.mjs')).href
  const dist = pathToFileURL(join(packageRoot, 'dist')).href
  const whole = `
    import { recorded } from ${JSON.stringify(recorder)}
    const load = (path) => import(${JSON.stringify(dist)} + path)
    const folder = ${JSON.stringify(await temporaryFolder())}
    ${script}
    console.log(JSON.stringify(recorded(folder)))`
  const node = ['--input-type=module', '-e', whole]
  const { stdout } = await run(process.execPath, node, { cwd: packageRoot })
  return z.array(z.string()).parse(JSON.parse(stdout))
}

it.each([
  [
    'written by itself',
    `const { writeAtomic } = await load('/lib/files.js')
    await writeAtomic(folder + '/state/file', 'text')`,
  ],
  [
    'written before, as by DuckDB,',
    `const { commitFile } = await load('/lib/files.js')
    const { mkdirSync, writeFileSync } = await import('node:fs')
    mkdirSync(folder + '/state')
    writeFileSync(folder + '/state/.new', 'text')
    await commitFile(folder + '/state/.new', folder + '/state/file')`,
  ],
])(
  'law 3: a file %s is synced before it gets its name, and its folder afterwards',
  async (_, script) => {
    expect(await orderOf(script)).toEqual(['sync state/file', 'rename state/file', 'sync state'])
  },
)

it('law 3: the folder above a new one is synced, so that a power cut does not take both', async () => {
  const order = await orderOf(`
    const { writeAtomic } = await load('/lib/files.js')
    await writeAtomic(folder + '/a/b/file', 'text')
    await writeAtomic(folder + '/a/b/other', 'text')`)
  const written = (name: string) => [`sync a/b/${name}`, `rename a/b/${name}`, 'sync a/b']
  expect(order).toEqual(['sync a', ...written('file'), ...written('other')])
})

it('law 3: a raw day is synced before it gets its name, and its folder afterwards', async () => {
  const folder = 'lake/raw/tokens/org=o/date=2026-03-09'
  const order = await orderOf(`
    const { contentOf } = await load('/extract/land/row-lines.js')
    const { LandingDatabase, landVersions } = await load('/extract/land/raw-writer.js')
    const database = new LandingDatabase(folder)
    const to = { dataFolder: folder, orgId: 'o', ledger: new Map(), database, warn: console.error }
    const at = Date.parse('2026-03-10T06:00:00Z')
    const origin = { page: 1, fetchedAt: at, request: '/', requestId: null, runId: 'run' }
    const content = contentOf([{ item: '{"n":1}', ordinal: 0, origin }], origin)
    await landVersions(to, 'tokens', [{ day: '2026-03-09', content }])`)
  // where the folders were made before any file was synced
  expect(order.splice(0, 3)).toEqual(
    ['lake', 'lake/raw', 'lake/raw/tokens'].map((each) => `sync ${each}`),
  )
  expect(order).toEqual([
    expect.stringMatching(`^sync ${folder}/.+\\.parquet$`),
    expect.stringMatching(`^rename ${folder}/.+\\.parquet$`),
    `sync ${folder}`,
    'sync lake/raw/tokens/org=o',
  ])
})

it('law 3: what the ledger records is synced before it counts as recorded', async () => {
  const order = await orderOf(`
    const { LedgerFile } = await load('/lake/ledger.js')
    const ledger = await LedgerFile.open(folder, 'o', console.error)
    await ledger.forget([{ resource: 'users', day: '2026-03-09', file: null }])`)
  expect(order).toEqual(['sync state', `append ${JOURNAL}`, `sync ${JOURNAL}`])
})

it('law 3: lines that share a write are synced before any of them counts as recorded', async () => {
  const order = await orderOf(`
    const { LedgerFile } = await load('/lake/ledger.js')
    const ledger = await LedgerFile.open(folder, 'o', console.error)
    const record = async (day) => {
      await ledger.forget([{ resource: 'users', day, file: null }])
      return recorded(folder).at(-1)
    }
    const first = record('2026-03-01')
    await null // it is being synced: the next two wait for it, and share a write
    for (const end of await Promise.all([record('2026-03-02'), record('2026-03-03')]))
      if (!end.startsWith('sync ')) throw new Error('recorded before that: ' + end)
    await first`)
  const lines = ['append', 'sync', 'append', 'sync'].map((each) => `${each} ${JOURNAL}`)
  expect(order).toEqual(['sync state', ...lines])
})
