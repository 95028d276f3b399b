import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { RunEvent } from '../../src/lib/events.ts'
import { restoredFolder } from '../support/folders.ts'
import { temporaryFolder, testWorld } from '../support/helpers.ts'
import { baseOf } from './contents.ts'
import { night, type Night } from './night.ts'
import { standIn } from '../support/stand-in.ts'

const FIRST_NIGHT = Date.parse('2026-01-22T05:00:00Z')
const SECOND_NIGHT = FIRST_NIGHT + 86_400_000
const NEW_DAY = '2026-01-22'

interface SecondNight extends Night {
  readonly data: string
  readonly events: readonly RunEvent[]
  /** Once more at the same time. */
  readonly again: () => Promise<Night>
}

/** A second night in the state that `between` leaves; `heard` gets its events as they come. */
async function secondNight(
  options: {
    readonly between?: (data: string) => Promise<void>
    readonly heard?: (event: RunEvent, data: string) => void
    /** Responses to rechecks of users wait for it. */
    readonly rechecksWaitFor?: Promise<void>
  } = {},
): Promise<SecondNight> {
  const clock = { now: FIRST_NIGHT }
  const platform = await standIn({
    users: 12,
    now: () => clock.now,
    intercept: async ({ path, query }) => {
      const isRecheck = path.endsWith('/users') && query.get('startDate') !== NEW_DAY
      if (isRecheck && clock.now === SECOND_NIGHT) await options.rechecksWaitFor
      return undefined
    },
  })
  const at = { url: platform.url, key: platform.keys.manager, patienceMs: 60_000 }
  const { data } = await restoredFolder('first night', async (dataFolder) => {
    const first = await night('sync', testWorld(FIRST_NIGHT), { ...at, dataFolder })
    expect(first).toEqual({ exitCode: 0, problems: [] })
  })
  await options.between?.(data)
  clock.now = SECOND_NIGHT
  const world = testWorld(SECOND_NIGHT)
  const emit = (event: RunEvent): void => {
    world.emit(event)
    options.heard?.(event, data)
  }
  const again = () => night('sync', { ...world, emit }, { ...at, dataFolder: data })
  return { ...(await again()), data, events: world.events, again }
}

const isUsersWritten = (event: RunEvent): boolean =>
  event.type === 'base.written' && event.entity === 'users'

const warningsOf = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))

it('base of the new day is written while rechecks of old days are still in progress', async () => {
  let tellWritten = (): void => undefined
  const written = new Promise<void>((resolve) => {
    tellWritten = resolve
  })
  const { data, exitCode, events, again } = await secondNight({
    rechecksWaitFor: written,
    heard: (event) => {
      if (isUsersWritten(event)) tellWritten()
    },
  })
  expect(exitCode).toBe(0)
  expect(events.filter(isUsersWritten)).toHaveLength(1)
  const base = await baseOf(data)
  for (const made of ['lake/base', 'state/base']) await rm(join(data, made), { recursive: true })
  expect(await again()).toMatchObject({ exitCode: 0 })
  expect(await baseOf(data)).toEqual(base)
})

it('base of a month of which nothing is missing is written while other months are still requested', async () => {
  const now = Date.parse('2026-02-04T05:00:00Z')
  let open = (): void => undefined
  const january = new Promise<undefined>((resolve) => {
    open = () => {
      resolve(undefined)
    }
  })
  const platform = await standIn({
    users: 12,
    now: () => now,
    intercept: ({ path, query }) => {
      const isJanuary = query.get('startDate')?.startsWith('2026-01') === true
      return path.endsWith('/users') && isJanuary ? january : Promise.resolve(undefined)
    },
  })
  const world = testWorld(now)
  const emit = (event: RunEvent): void => {
    world.emit(event)
    if (event.type === 'base.written' && event.month === '2026-02') open()
  }
  const dataFolder = await temporaryFolder()
  const where = { url: platform.url, key: platform.keys.manager, dataFolder, patienceMs: 60_000 }
  expect(await night('sync', { ...world, emit }, where)).toEqual({ exitCode: 0, problems: [] })
  expect(world.events.filter(isUsersWritten)).toHaveLength(2)
})

it('base is written after a damaged raw file was removed from the ledger, and not before', async () => {
  const { exitCode, events } = await secondNight({
    between: async (data) => {
      const day = join(data, 'lake', 'raw', 'users', 'org=org_demo', 'date=2026-01-14')
      for (const name of await readdir(day)) await appendFile(join(day, name), 'x')
    },
  })
  expect(exitCode).toBe(3)
  expect(warningsOf(events).filter((each) => each.includes('missing again'))).toHaveLength(1)
  expect(events.filter(isUsersWritten)).toHaveLength(1)
})

it('base that cannot be written while a run waits for responses is reported, and written afterwards', async () => {
  const blocked = (data: string): string => join(data, 'state', 'spill', 'base')
  const { exitCode, events } = await secondNight({
    between: async (data) => {
      await mkdir(join(blocked(data), '..'), { recursive: true })
      await writeFile(blocked(data), '')
    },
    heard: (event, data) => {
      if (event.type === 'warning' && event.message.includes('afterwards')) rmSync(blocked(data))
    },
  })
  expect(warningsOf(events).filter((each) => each.includes('afterwards'))).toHaveLength(1)
  expect(events.filter(isUsersWritten)).toHaveLength(1)
  expect(exitCode).toBe(0)
})
