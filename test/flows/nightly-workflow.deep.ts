import { readdir, readFile } from 'node:fs/promises'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MAIN } from '../support/command.ts'
import type { FaultRule } from '../support/faults.ts'
import type { NightOptions } from './nightly-runner.ts'
import { archived, commandIs, EVENTS, HEADER, query, stage } from './nightly-stage.ts'

describe('the nightly workflow', () => {
  it('completes the night after one that was killed, and leaves tracked seeds as committed', async () => {
    const { platform, night, cache, artifacts, options } = await stage()
    const workspaces: string[] = []
    const prepare = (workspace: string): Promise<void> => {
      workspaces.push(workspace)
      return Promise.resolve()
    }
    let killed = 0
    const where: FaultRule['where'] = ({ endpoint, first }) => {
      if (killed > 0 || endpoint !== 'users' || first !== '2026-01-17') return false
      const lease = readFileSync(join(workspaces[0] ?? '', 'data', 'state', 'lock'), 'utf8')
      killed = (JSON.parse(lease) as { pid: number }).pid
      process.kill(killed, 'SIGKILL')
      return false
    }
    platform.strike([{ kind: '404', where }])
    const first = await night({ ...options, prepare })
    expect(killed).toBeGreaterThan(0)
    expect(first.outcomes).toMatchObject({ Run: 'failure', Unpack: 'success', Pack: 'success' })
    const left = archived(cache)
    expect(left.filter((name) => name.startsWith('lake/raw/'))).not.toEqual([])
    expect(left.filter((name) => /lock|seeds|redaction|\.part$/.test(name))).toEqual([])

    const events = `${HEADER}2026-01-15,launch,,\n`
    const second = await night({ ...options, tracked: { [EVENTS]: events } })
    expect([second.conclusion, second.log]).toEqual([
      'success',
      expect.not.stringContaining('held'),
    ])
    expect(await readFile(join(second.workspace, EVENTS), 'utf8')).toBe(events)
    expect((await query(second.workspace, 'select event_name from dim_event')).out).toContain(
      'launch',
    )
    const days = await query(
      second.workspace,
      `select resource, count(*) from meta.intervals where status in ('landed', 'empty')
        and resource in ('users', 'tokens') group by 1 order by 1`,
    )
    expect(days.out).toMatch(/tokens,6\nusers,6\n/)
    expect((await readdir(artifacts)).sort()).toEqual([
      'exports',
      'report.html',
      'warehouse.duckdb',
    ])
    expect(second.summary).toMatch(/\n## .+, 4 weeks to \d+ Jan 2026\n/)
    expect(archived(cache)).toContain('warehouse.duckdb')

    const third = await night({ ...options, prepare: commandIs('') })
    const [before, after] = [second, third].map(({ workspace }) => {
      const { mtimeNs, size } = statSync(join(workspace, 'data/warehouse.duckdb'), { bigint: true })
      return { mtimeNs, size }
    })
    expect(after).toEqual(before)
    expect(archived(cache).filter((name) => /lock|seeds|redaction/.test(name))).toEqual([])
  })

  it('makes an archive and artifacts that only the passphrase opens', async () => {
    const { night, cache, artifacts, options } = await stage()
    const program = `
      import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
      if (process.argv[2] !== 'run') process.exit(0)
      process.chdir(process.env.AGENT_WAREHOUSE_DATA)
      for (const folder of ['lake', 'exports', 'report']) mkdirSync(folder, { recursive: true })
      for (const file of ['exports/x.csv', 'report/report.html', 'warehouse.duckdb'])
        writeFileSync(file, file)
      appendFileSync('lake/raw', 'x')
      console.log('nights: ' + readFileSync('lake/raw'))`
    const sealed = (PASSPHRASE: string): NightOptions => ({
      ...options,
      secrets: { ...options.secrets, AGENT_WAREHOUSE_PASSPHRASE: PASSPHRASE },
      prepare: commandIs(program),
    })
    expect((await night(sealed('correct horse'))).conclusion).toBe('success')
    expect(await readdir(cache)).toEqual(['data.tar.gz.gpg'])
    expect((await readdir(artifacts)).sort()).toEqual([
      'exports.tar.gz.gpg',
      'report.html.gpg',
      'warehouse.duckdb.gpg',
    ])
    const bytes = await readFile(join(cache, 'data.tar.gz.gpg'))
    expect(bytes.subarray(0, 1)).not.toEqual(Buffer.from([0x1f]))

    for (const [passphrase, why] of [
      ['another', 'is not the one of the last night'],
      ['', 'is not set'],
    ] as const) {
      const refused = await night(sealed(passphrase))
      expect(refused.conclusion).toBe('failure')
      expect(refused.outcomes).not.toHaveProperty('Run')
      expect(refused.outcomes).not.toHaveProperty('Pack')
      expect(refused.log).toContain(why)
      expect(await readFile(join(cache, 'data.tar.gz.gpg'))).toEqual(bytes)
    }

    const next = await night(sealed('correct horse'))
    expect(next.conclusion).toBe('success')
    expect(next.log).toContain('\nnights: xx\n')
  })

  it('fails the job after three nights in a row that were partial or deferred', async () => {
    const { platform, night, options } = await stage()
    const prepare = commandIs(`if (process.argv[2] === 'run') await import('${MAIN}')`)
    const where: FaultRule['where'] = ({ endpoint, first }) =>
      endpoint === 'users' && first === '2026-01-17'
    platform.strike([{ kind: '404', where }])
    const nights = []
    for (let count = 0; count < 3; count += 1) nights.push(await night({ ...options, prepare }))
    expect(nights.map(({ outcomes }) => outcomes['Run'])).toEqual(['success', 'success', 'failure'])
    expect(nights.map(({ outcomes }) => outcomes['Save the archive'])).not.toContain('failure')
    platform.strike([])
    expect((await night({ ...options, prepare })).conclusion).toBe('success')
  })
})
