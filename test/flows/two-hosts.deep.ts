import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import { command, startCommand, type Running } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { LAST_DAY, pagedPlatform } from './paged.ts'

const SYNC = ['sync', '--only', 'users', '--from', LAST_DAY, '--to', LAST_DAY, '--log', 'text']
const PRELOAD = join(packageRoot, 'test', 'support', 'other-host.mjs')

/** One volume, and the command on hosts that share it. */
async function stage() {
  const paged = await pagedPlatform({ users: 9, perPage: 2 })
  const data = await temporaryFolder()
  /** With haste, a minute of watching a lease takes a second. */
  const on = (host: string, haste = 1): Record<string, string> => ({
    AGENT_BASE_URL: paged.url,
    AGENT_API_KEY: 'key',
    AGENT_WAREHOUSE_DATA: data,
    NODE_OPTIONS: `--import ${PRELOAD}`,
    HOST_NAME: host,
    HASTE: String(haste),
  })
  /** Starts a run on host `a`; resolves when it waits for its third page. */
  const startWaiting = async (): Promise<{ running: Running; answer: () => void }> => {
    const waiting = new Promise<() => void>((resolve) => {
      paged.disturb = ({ cursor, answer }) => {
        if (cursor !== 'u4') return undefined
        paged.disturb = () => undefined
        resolve(answer)
        return true
      }
    })
    const running = startCommand(SYNC, on('a'))
    return { running, answer: await waiting }
  }
  return { paged, data, on, startWaiting }
}

/** Everything that a run commits: its raw files and the ledger's text. */
async function committed(data: string): Promise<string[]> {
  const files = await readdir(join(data, 'lake'), { recursive: true })
  const ledger = await readFile(join(data, 'state', 'ledger', 'o.ndjson'), 'utf8')
  return [...files.sort(), ledger]
}

describe('law 12: two hosts on one volume', () => {
  it('a live run is not disturbed, and a run on the other host names it and ends with exit code 7', async () => {
    const { on, startWaiting } = await stage()
    const { running, answer } = await startWaiting()
    const { code, err } = await command(SYNC, on('b'))
    expect(code).toBe(7)
    expect(err).toMatch(
      /the data folder is in use by run \S+ \(process \d+ on a, since \S+, less than a minute\), last heartbeat \S+/,
    )
    expect(err).toMatch(/Wait until it ends\. If it hangs, stop that process/)
    answer()
    expect(await running.outcome).toMatchObject({ code: 0 })
  })

  it('a killed run is replaced by a run that finds its silent lease', async () => {
    const { data, on, startWaiting } = await stage()
    const { running } = await startWaiting()
    running.kill('SIGKILL')
    await running.outcome
    const status = await command(['status', '--json'], on('b'))
    expect(JSON.parse(status.out)).toMatchObject({ running: { host: 'a', state: 'alive' } })
    const { code, out, err } = await command(SYNC, on('b', 60))
    expect([code, out]).toEqual([0, expect.stringMatching(/users .* 9\n/)])
    expect(err).toMatch(/in use by run \S+ \(process \d+ on a, .*waiting up to 120 s/)
    expect(err).toContain('the last run was killed')
    expect(await readdir(join(data, 'state'))).not.toContain('lock')
  })

  it('a run that was suspended for long stops when it continues, and commits nothing more', async () => {
    const { data, on, startWaiting } = await stage()
    const { running, answer } = await startWaiting()
    running.kill('SIGSTOP')
    expect(await command(SYNC, on('b', 60))).toMatchObject({ code: 0 })
    const before = await committed(data)
    answer()
    running.kill('SIGCONT')
    const { code, err } = await running.outcome
    expect([code, err]).toEqual([
      7,
      expect.stringMatching(/the lease of run \S+ is gone: .*; the run stopped/),
    ])
    expect(await committed(data)).toEqual(before)
  })

  it('a run that is suspended on this host is never replaced', async () => {
    const { on, startWaiting } = await stage()
    const { running, answer } = await startWaiting()
    running.kill('SIGSTOP')
    expect(await command(SYNC, on('a', 60))).toMatchObject({ code: 7 })
    running.kill('SIGCONT')
    answer()
    expect(await running.outcome).toMatchObject({ code: 0 })
  })
})
