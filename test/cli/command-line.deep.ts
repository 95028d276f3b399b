import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'

describe('the file in --out', () => {
  it.each([
    ['report', 'lake/raw/tokens/org=a/date=2026-01-14/a.parquet'],
    ['report', 'warehouse.duckdb'],
    ['docs', 'state/ledger/a.ndjson'],
    ['docs', 'runs/index.html'],
    ['docs', 'seeds'],
  ])('of %s cannot be %s of the data folder, also through a link', async (name, path) => {
    const folder = await temporaryFolder()
    const data = join(folder, 'data')
    await mkdir(data)
    await symlink(data, join(folder, 'link'))
    for (const out of [join(data, path), join(folder, 'link', path)]) {
      const { code, err } = await command([name, '--data', data, '--out', out])
      expect(err).toContain(`--out: ${out} is a file of the data folder`)
      expect(code).toBe(2)
    }
  })

  it('can be below report, docs or exports, or next to the warehouse', async () => {
    const data = await temporaryFolder()
    for (const path of ['report/a.html', 'docs/a.html', 'exports/a.html', 'a.html']) {
      const { err } = await command(['report', '--data', data, '--out', join(data, path)])
      expect(err).toContain('there is no published warehouse')
    }
  })
})

describe('what is no file in --out', () => {
  it('is refused', async () => {
    const folder = await temporaryFolder()
    await symlink(join(folder, 'nothing'), join(folder, 'dangling'))
    for (const out of [folder, '/dev/null', join(folder, 'dangling'), join(folder, 'new/')]) {
      const { code, err } = await command(['report', '--data', folder, '--out', out])
      expect(err).toContain(`--out: ${out.replace(/\/$/, '')} is not a file`)
      expect(code).toBe(2)
    }
  })
})

it('--out with ~, which no shell has replaced, is refused', async () => {
  const folder = await temporaryFolder()
  const { code, err } = await command(['docs', '--data', folder, '--out=~/a.html'], {}, folder)
  expect(err).toContain(`--out: ${join(folder, '~', 'a.html')} has '~' in its path`)
  expect(code).toBe(2)
})

describe('an SQL statement', () => {
  it.each(['-- a comment\nselect 1', '--\nselect 1', '--total\nselect 1', '--a = 1\nselect 1'])(
    'may begin with a comment: %j',
    async (sql) => {
      const data = ['--data', await temporaryFolder()]
      for (const args of [
        ['query', sql, ...data],
        [...data, 'query', sql],
      ]) {
        const { err } = await command(args)
        expect(err, args[0]).toContain('there is no published warehouse')
      }
    },
  )
})

describe('a wrong option', () => {
  it.each([
    [['build', '--as-of', 'x'], '--as-of'],
    [['sync', '--from', 'x'], '--from'],
    [['run', '--max-duration', 'x'], '--max-duration'],
    [['plan', '--only', 'x'], '--only'],
    [['verify', '--days', '0'], '--days'],
    [['query', '--analysis', 'x'], "ready-made question 'x'"],
    [['hooks', 'install', '--events', 'x'], '--events'],
    [['limits', 'set', 'x', '5'], 'e-mail address'],
  ])('is reported before a wrong configuration: %j', async (args, option) => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'agent-warehouse.yaml'), 'rate: fast\n', { mode: 0o600 })
    const { code, err } = await command(args, {}, folder)
    expect(err).toContain(option)
    expect(code).toBe(2)
  })
})

describe('an unknown command', () => {
  it.each([
    [['snyc'], 'snyc', "Did you mean 'sync'?"],
    [['--debug=false', 'rn'], 'rn', "Did you mean 'run'?"],
    [['hooks', 'instal', '--json'], 'instal', "Did you mean 'install'?"],
    [['controls', 'foo'], 'foo', 'Known: diff, list, show.'],
  ])('gets the nearest command of its group, or their names: %j', async (args, name, hint) => {
    const { code, err } = await command(args)
    expect(err).toBe(`agent-warehouse: there is no command '${name}'\n  ${hint} See --help.\n`)
    expect(code).toBe(2)
  })

  it('gets no command that is unlike it', async () => {
    const { err } = await command(['foo'])
    expect(err).not.toContain('Did you mean')
  })

  it.each([
    [['hooks', 'install', 'now'], 'now'],
    [['limits', 'set', 'a@b.c', '5', 'c'], 'c'],
  ])('is not assumed after a whole command, nor an option: %j', async (args, argument) => {
    const { err } = await command(args)
    expect(err).toBe(`agent-warehouse: Unknown argument: ${argument}\n  See --help.\n`)
  })

  it('is named, and not its options', async () => {
    const { code, err } = await command(['forge', '--data', 'x'])
    expect(err.split('\n')[0]).toBe("agent-warehouse: there is no command 'forge'")
    expect(code).toBe(2)
  })
})
