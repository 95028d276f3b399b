import { readdir, watch } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { warehouseOf, writeWarehouse } from '../serve/support.ts'
import { command, startCommand, type Running } from '../support/command.ts'
import { sendJson, temporaryFolder } from '../support/helpers.ts'
import { LAST_DAY, pagedPlatform, pageBuffersIn, usersIn, type Paged } from './paged.ts'
import { syncFrom } from './platform.ts'

const DAY = parseDay(LAST_DAY, 'the last day')
const PAGES = ['', 'u2', 'u4', 'u6', 'u8']
const ALL = Array.from({ length: 9 }, (_, at) => [`u${at + 1}`, 1, Math.floor(at / 2) + 1, at % 2])
const SYNC = ['sync', '--only', 'users', '--from', DAY, '--to', DAY, '--log', 'text']

/** Nine users, two a page, and the command that lands them. */
async function stage() {
  const paged = await pagedPlatform({ users: 9, perPage: 2 })
  const data = await temporaryFolder()
  const environment = {
    AGENT_BASE_URL: paged.url,
    AGENT_API_KEY: 'key',
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_RATE: '2000',
  }
  return { paged, data, environment }
}

/** Starts the command; `act` is called when the page after the cursor is requested. */
function startUntil(
  { paged, environment }: Awaited<ReturnType<typeof stage>>,
  cursor: string,
  act: (running: Running, answer: () => void) => Promise<void>,
): Running {
  const began: { running?: Running } = {}
  paged.disturb = async (asked) => {
    const { running } = began
    if (asked.endpoint !== 'users' || (asked.cursor ?? '') !== cursor) return undefined
    if (running !== undefined) await act(running, asked.answer)
    return true
  }
  const running = startCommand(SYNC, environment)
  began.running = running
  return running
}

/** An undisturbed sync after it, in this process: which pages it requests. */
async function nextSync(paged: Paged, data: string): Promise<string[]> {
  paged.disturb = () => undefined
  paged.forget()
  const { result } = await syncFrom(paged.url, data, {
    world: paged.worldAt(),
    only: ['users'],
    plan: { within: { first: DAY, last: DAY } },
  })
  expect(result).toMatchObject({ failed: 0, stoppedBy: null, unreachable: null })
  return paged.cursors()
}

it('law 4: a pagination that is killed at every page in turn loses at most the page that was being fetched', async () => {
  const { paged, data, environment } = await stage()
  for (const [at, cursor] of PAGES.entries()) {
    const running = startUntil({ paged, data, environment }, cursor, async (self) => {
      self.kill('SIGKILL')
      await self.outcome
    })
    paged.forget()
    expect((await running.outcome).code).toBeNull()
    expect(paged.cursors()).toEqual(PAGES.slice(Math.max(0, at - 1), at + 1))
  }
  paged.disturb = () => undefined
  paged.forget()
  expect(await command(SYNC, environment)).toMatchObject({ code: 0 })
  expect(paged.cursors()).toEqual(['u8'])
  expect(await usersIn(data, DAY)).toEqual(ALL)
  expect(await pageBuffersIn(data)).toEqual([])
})

/** Resolves when an entry of the folder begins or ends to exist. */
async function changeIn(folder: string): Promise<void> {
  for await (const change of watch(folder)) if (change.eventType === 'rename') return
}

describe('a signal', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s lets the current page arrive, keeps it, and ends the run with exit code 4',
    async (signal) => {
      const { paged, data, environment } = await stage()
      const running = startUntil({ paged, data, environment }, 'u4', async (self, answer) => {
        self.kill(signal)
        await self.untilPrinted('no more requests are sent')
        answer()
      })
      const { code, err } = await running.outcome
      expect(code, err).toBe(4)
      expect(err).toContain(`stopped by ${signal}`)
      expect(paged.cursors()).toEqual(['', 'u2', 'u4'])
      expect(await pageBuffersIn(data)).toHaveLength(1)
      expect(await nextSync(paged, data)).toEqual(['u6', 'u8'])
      expect(await usersIn(data, DAY)).toEqual(ALL)
    },
  )

  it('followed by a second one aborts the current request, and keeps the pages before it', async () => {
    const { paged, data, environment } = await stage()
    const running = startUntil({ paged, data, environment }, 'u4', async (self) => {
      self.kill('SIGTERM')
      await self.untilPrinted('no more requests are sent')
      self.kill('SIGINT')
    })
    const { code, err } = await running.outcome
    expect(code, err).toBe(4)
    expect(await nextSync(paged, data)).toEqual(['u4', 'u6', 'u8'])
    expect(await usersIn(data, DAY)).toEqual(ALL)
  })

  it('aborts the current request when the grace period is over', async () => {
    const { paged, data, environment } = await stage()
    const running = startUntil({ paged, data, environment }, 'u4', async (self) => {
      self.kill('SIGTERM')
      await self.outcome
    })
    expect((await running.outcome).code).toBe(4)
    expect(await nextSync(paged, data)).toEqual(['u4', 'u6', 'u8'])
  })

  it('ends a wait, and no more requests are sent', async () => {
    const { paged, environment } = await stage()
    paged.disturb = ({ endpoint }, response) => {
      if (endpoint !== 'users') return undefined
      sendJson(response, 429, {}, { 'retry-after': '3600' })
      return true
    }
    const running = startCommand([...SYNC, '--max-duration', '5h'], environment)
    await running.untilPrinted('waiting')
    running.kill('SIGTERM')
    const { code, err } = await running.outcome
    expect(code, err).toBe(4)
    expect(paged.cursors()).toEqual([''])
  })

  it('at the last page lands the day, and the run still ends with exit code 4', async () => {
    const { paged, data, environment } = await stage()
    const running = startUntil({ paged, data, environment }, 'u8', async (self, answer) => {
      self.kill('SIGTERM')
      await self.untilPrinted('no more requests are sent')
      answer()
    })
    expect((await running.outcome).code).toBe(4)
    expect(await usersIn(data, DAY)).toEqual(ALL)
    expect(await nextSync(paged, data)).toEqual([])
  })

  it.each(['parquet', 'csv', 'duckdb'])(
    'ends an export of %s with exit code 4, and leaves the earlier export and nothing else',
    async (target) => {
      const { folder: data, path } = await warehouseOf('create table fct_x as select 1 as n')
      const environment = { AGENT_WAREHOUSE_DATA: data }
      const args = ['export', target, '--log', 'text']
      expect(await command(args, environment)).toMatchObject({ code: 0 })
      const before = await readdir(data, { recursive: true })
      const slow = 'select count(*) as n from range(1000000000000) as a (i) where i < 0'
      await writeWarehouse(path, `create view a_slow as ${slow}`)
      const begun = changeIn(join(data, 'exports'))
      const running = startCommand(args, environment)
      await begun
      running.kill('SIGTERM')
      const { code, err } = await running.outcome
      expect(code, err).toBe(4)
      expect(err.split('\n')).toContain('agent-warehouse: stopped by SIGTERM')
      const after = await readdir(data, { recursive: true })
      const ofRuns = /^runs\//
      expect(after.filter((name) => !ofRuns.test(name)).sort()).toEqual(
        before.filter((name) => !ofRuns.test(name)).sort(),
      )
    },
  )
})
