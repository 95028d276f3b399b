import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { standIn } from '../support/stand-in.ts'

const SYNC = ['sync', '--log', 'text', '--only', 'tokens', '--to', '2026-01-15']

async function stage() {
  const emulator = await standIn({ users: 3, now: () => Date.now() })
  const data = await temporaryFolder()
  const sync = () =>
    command(SYNC, {
      AGENT_BASE_URL: emulator.url,
      AGENT_API_KEY: emulator.keys.manager,
      AGENT_WAREHOUSE_DATA: data,
    })
  expect((await sync()).code).toBe(0)
  const putFolder = async (name: string): Promise<string> => {
    const path = join(data, name)
    await rm(path, { force: true })
    await mkdir(path, { recursive: true })
    return path
  }
  return { data, sync, putFolder }
}

describe('a file in place of a folder', () => {
  it.each(['lake', 'lake/base', 'state', 'runs'])(
    'ends every command with exit code 2 before any request: %s',
    async (name) => {
      const data = await temporaryFolder()
      const path = join(data, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, '')
      for (const args of [SYNC, ['doctor'], ['rebuild']]) {
        const { code, err, out } = await command(args, { AGENT_WAREHOUSE_DATA: data })
        expect(code).toBe(2)
        expect(`${out}${err}`).toContain(`${path} is a file, but must be a folder`)
      }
    },
  )
})

it.each(['build', 'rebuild', 'compact', 'export csv', 'rollback', 'verify'])(
  '%s creates no data folder, because its name may be mistyped',
  async (words) => {
    const data = join(await temporaryFolder(), 'mistyped')
    const { code, err } = await command(words.split(' '), {
      AGENT_WAREHOUSE_DATA: data,
      AGENT_BASE_URL: 'http://127.0.0.1:9',
      AGENT_API_KEY: 'key',
    })
    expect({ code, err }).toMatchObject({ code: 2 })
    expect(err).toContain(`there is no data folder ${data}`)
    expect(existsSync(data)).toBe(false)
  },
)

it('a folder or a file whose name is not one of an organisation is ignored', async () => {
  const { data, sync, putFolder } = await stage()
  await putFolder('lake/raw/tokens/org=50%/date=2026-01-15')
  await writeFile(join(data, 'state/ledger/50%.ndjson'), '')
  expect((await sync()).code).toBe(0)
  for (const args of [['status'], ['compact']]) {
    const { code, err } = await command(args, { AGENT_WAREHOUSE_DATA: data })
    expect(code, err).toBe(0)
  }
})

describe('a folder in place of a file', () => {
  it('goes to quarantine when it is in place of a base file, which is written again', async () => {
    const { data, sync, putFolder } = await stage()
    const place = 'base/tokens_days/org=org_demo/month=2026-01/data.parquet'
    const path = await putFolder(join('lake', place))
    const { code, err, out } = await sync()
    expect({ code, err }).toMatchObject({ code: 0 })
    expect(`${err}${out}`).toContain(
      'there was a folder instead of the base file of tokens_days, 2026-01',
    )
    expect((await stat(path)).isFile()).toBe(true)
    expect(await readdir(join(data, 'quarantine', place))).toEqual([])
    expect(await sync()).toMatchObject({ code: 0 })
  })

  it.each([
    'state/lock',
    'state/ledger/org_demo.ndjson',
    'state/organisations.json',
    'state/base/org_demo.json',
  ])('ends a run with exit code 2 and one line that names it: %s', async (name) => {
    const { sync, putFolder } = await stage()
    const path = await putFolder(name)
    const { code, err } = await sync()
    expect({ code, err }).toMatchObject({ code: 2 })
    expect(err.trim().split('\n').slice(-2)).toEqual([
      `agent-warehouse: ${path} is a folder, but must be a file`,
      '  Move it away, then run again: the file will be created again.',
    ])
    await rm(path, { recursive: true })
    expect(await sync()).toMatchObject({ code: 0 })
  })
})
