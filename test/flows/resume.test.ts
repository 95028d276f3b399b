import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { servedRow } from '../../src/client/index.ts'
import { PageBuffer } from '../../src/extract/land/page-buffer.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import type { Day } from '../../src/lib/days.ts'
import { rebuildLedger } from '../../src/extract/open-ledger.ts'
import { sendJson, temporaryFolder } from '../support/helpers.ts'
import {
  LAST_DAY,
  MORNING,
  pagedPlatform,
  pageBuffersIn,
  refuse,
  usersIn,
  type Disturb,
  type Paged,
} from './paged.ts'
import { ledgerOf, syncFrom } from './platform.ts'

const DAY = LAST_DAY as Day
const BUFFER_NAME = `o-users-${DAY}.pages`
const ALL = Array.from({ length: 9 }, (_, at) => [`u${at + 1}`, 1, Math.floor(at / 2) + 1, at % 2])

/** Nine users, two a page. */
const platform = (): Promise<Paged> => pagedPlatform({ users: 9, perPage: 2 })

/** Lands the users of one day. */
async function land(
  paged: Paged,
  data: string,
  { at, runForMs }: { readonly at?: string; readonly runForMs?: number } = {},
) {
  paged.forget()
  const resources = RESOURCES.filter(({ name }) => name === 'users')
  const plan = { resources, within: { first: DAY, last: DAY } }
  const limit = runForMs === undefined ? {} : { runForMs }
  return syncFrom(paged.url, data, { world: paged.worldAt(at), plan, ...limit })
}

/** Answers every request for the page after this cursor with 500. */
const broken =
  (cursor: string): Disturb =>
  (asked, response) =>
    asked.cursor === cursor && refuse(response, 500)

/** A run that fails to fetch the third page. */
async function interrupted(paged: Paged, data: string, at?: string): Promise<void> {
  paged.disturb = broken('u4')
  const { result } = await land(paged, data, at === undefined ? {} : { at })
  paged.disturb = () => undefined
  expect(result).toMatchObject({ failed: 1, stoppedBy: null })
  expect(await pageBuffersIn(data)).toEqual([BUFFER_NAME])
}

describe('law 4: an interrupted pagination', () => {
  it('resumes with the page that failed, and lands the rows of an undisturbed pagination', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await interrupted(paged, data)
    const { result, world } = await land(paged, data)
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    expect(paged.cursors()).toEqual(['u4', 'u6', 'u8'])
    expect(await usersIn(data, DAY)).toEqual(ALL)
    expect(await pageBuffersIn(data)).toEqual([])
    const interval = (await ledgerOf(data, 'o')).get(`users/${DAY}`)
    expect(interval).toMatchObject({ status: 'landed', rowCount: 9, versions: 1, error: null })
    expect(world.events).toContainEqual(
      expect.objectContaining({
        type: 'pagination.resumed',
        resource: 'users',
        day: DAY,
        pages: 2,
      }),
    )
  })

  it('keeps its pages when --max-duration stops it', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = async ({ cursor }) => {
      if (cursor === 'u4') await paged.pass(60_000)
      return undefined
    }
    const { result } = await land(paged, data, { runForMs: 60_000 })
    expect(result.stoppedBy?.exitCode).toBe(4)
    expect(paged.cursors()).toEqual(['', 'u2', 'u4'])
    paged.disturb = () => undefined
    await land(paged, data)
    expect(paged.cursors()).toEqual(['u6', 'u8'])
    expect(await usersIn(data, DAY)).toEqual(ALL)
  })

  it('lands without a request when its last page was fetched', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await interrupted(paged, data)
    const part = await PageBuffer.open(join(data, 'state', 'parts', BUFFER_NAME), () => undefined)
    for (const page of [3, 4, 5]) {
      const items = ALL.filter(([, , at]) => at === page).map(
        ([user]) => `{"user_id":"${user ?? ''}","date":"${DAY}","sessions":1}`,
      )
      const fetchedAt = Date.parse(MORNING) + 70_000
      const origin = { page, fetchedAt, request: '/', requestId: null, runId: 'killed' }
      const nextCursor = page === 5 ? null : `u${page * 2}`
      part.addPage(items.map(servedRow), { origin, nextCursor, witness: '' })
    }
    await land(paged, data)
    expect(paged.cursors()).toEqual([])
    expect(await usersIn(data, DAY)).toEqual(ALL)
    expect(await pageBuffersIn(data)).toEqual([])
  })

  it.each([
    [
      'a torn last line',
      (text: string) => `${text}{"item":"{\\"user_id\\":\\"u5`,
      ['u4', 'u6', 'u8'],
    ],
    ['a truncated end', (text: string) => text.slice(0, -7), ['u2', 'u4', 'u6', 'u8']],
    ['a changed row', (text: string) => text.replace('u3', 'x3'), ['u2', 'u4', 'u6', 'u8']],
    [
      'a changed cursor',
      (text: string) => text.replace('"nextCursor":"u4"', '"nextCursor":"u8"'),
      ['u2', 'u4', 'u6', 'u8'],
    ],
    ['a changed beginning', (text: string) => `x${text}`, ['', 'u2', 'u4', 'u6', 'u8']],
    ['nothing in it', () => '', ['', 'u2', 'u4', 'u6', 'u8']],
  ])(
    'resumes after the last verified page of a page buffer with %s',
    async (_, damage, cursors) => {
      const [paged, data] = [await platform(), await temporaryFolder()]
      await interrupted(paged, data)
      const part = join(data, 'state', 'parts', BUFFER_NAME)
      const text = await readFile(part, 'utf8')
      expect(damage(text)).not.toBe(text)
      await writeFile(part, damage(text))
      await land(paged, data)
      expect(paged.cursors()).toEqual(cursors)
      expect(await usersIn(data, DAY)).toEqual(ALL)
    },
  )

  it.each([
    ['resumes 19 hours later', '17T06', '18T01', 3],
    ['starts again 21 hours later', '17T06', '18T03', 5],
    ['resumes when the clock was set back by 19 hours', '17T23', '17T04', 3],
    ['starts again when the clock was set back by 21 hours', '17T23', '17T02', 5],
  ])('%s', async (_, before, after, pages) => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await interrupted(paged, data, `2026-01-${before}:00:00Z`)
    await land(paged, data, { at: `2026-01-${after}:00:00Z` })
    expect(paged.cursors()).toEqual(['', 'u2', 'u4', 'u6', 'u8'].slice(-pages))
    expect(await usersIn(data, DAY)).toEqual(ALL)
  })

  it('keeps both rows of a user who is served again on a later page, and counts one', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await interrupted(paged, data)
    paged.disturb = ({ cursor }, response) => {
      if (cursor !== 'u8') return undefined
      const data = [{ user_id: 'u1', date: DAY, sessions: 7 }]
      sendJson(
        response,
        200,
        { data, meta: { has_more: false } },
        { date: new Date(MORNING).toUTCString() },
      )
      return true
    }
    await land(paged, data)
    const rows = await usersIn(data, DAY)
    expect(rows.filter((row) => Array.isArray(row) && row[0] === 'u1')).toEqual([
      ['u1', 1, 1, 0],
      ['u1', 7, 5, 0],
    ])
    expect((await ledgerOf(data, 'o')).get(`users/${DAY}`)?.rowCount).toBe(8)
  })
})

describe('law 4: a refused cursor', () => {
  it.each([400, 404, 410, 422])(
    'with %i starts pagination of that day again, and of no other day',
    async (status) => {
      const [paged, data] = [await platform(), await temporaryFolder()]
      const resources = RESOURCES.filter(({ name }) => name === 'users')
      paged.disturb = broken('u4')
      await syncFrom(paged.url, data, { world: paged.worldAt(), plan: { resources } })
      expect(await pageBuffersIn(data)).toHaveLength(3)
      let isNew = true
      paged.disturb = ({ day, cursor }, response) => {
        const isRefused = isNew && day === DAY && cursor === 'u4'
        if (!isRefused) return undefined
        isNew = false
        return refuse(response, status, 'Unknown cursor')
      }
      paged.forget()
      const world = paged.worldAt()
      const { result } = await syncFrom(paged.url, data, { world, plan: { resources } })
      expect(result).toMatchObject({ failed: 0 })
      expect(paged.cursors(DAY)).toEqual(['u4', '', 'u2', 'u4', 'u6', 'u8'])
      expect(paged.cursors('2026-01-15')).toEqual(['u4', 'u6', 'u8'])
      expect(await usersIn(data, DAY)).toEqual(ALL)
      expect(world.events).toContainEqual(
        expect.objectContaining({
          type: 'warning',
          message: expect.stringContaining('Unknown cursor') as string,
        }),
      )
    },
  )

  it('in the middle of a pagination starts the day again once', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    let refusals = 1
    paged.disturb = ({ cursor }, response) =>
      cursor === 'u6' && refusals-- > 0 && refuse(response, 400)
    const { result } = await land(paged, data)
    expect(result).toMatchObject({ failed: 0 })
    expect(paged.cursors()).toEqual(['', 'u2', 'u4', 'u6', '', 'u2', 'u4', 'u6', 'u8'])
    expect(await usersIn(data, DAY)).toEqual(ALL)
  })

  it('that is refused twice fails the day, and leaves no page buffer', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ cursor }, response) => cursor === 'u6' && refuse(response, 400)
    const { result } = await land(paged, data)
    expect(result).toMatchObject({ failed: 1 })
    expect(paged.cursors()).toEqual(['', 'u2', 'u4', 'u6', '', 'u2', 'u4', 'u6'])
    expect(await pageBuffersIn(data)).toEqual([])
    paged.disturb = () => undefined
    await land(paged, data)
    expect(paged.cursors()).toEqual(['', 'u2', 'u4', 'u6', 'u8'])
  })

  it('is not assumed when the first page is refused', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ endpoint }, response) => endpoint === 'users' && refuse(response, 400)
    await land(paged, data)
    expect(paged.cursors()).toEqual([''])
    expect(await pageBuffersIn(data)).toEqual([])
  })
})

describe('a row without a user id', () => {
  it('lands with its day, counts as one user, and stops no pagination', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    const rows = [
      { date: DAY, sessions: 1 },
      { user_id: null, date: DAY, sessions: 1 },
      { user_id: '', date: DAY, sessions: 1 },
      { user_id: 7, date: DAY, sessions: 1 },
      { user_id: '\ud800', date: DAY, sessions: 1 },
      { user_id: '\ud801', date: DAY, sessions: 1 },
    ]
    paged.disturb = ({ endpoint, cursor }, response) => {
      if (endpoint !== 'users' || cursor !== 'u2') return undefined
      const meta = { org_id: 'o', has_more: true, next_cursor: 'u4' }
      sendJson(response, 200, { data: rows, meta }, { date: new Date(MORNING).toUTCString() })
      return true
    }
    const { result } = await land(paged, data)
    expect(result).toMatchObject({ failed: 0 })
    const before = (await ledgerOf(data, 'o')).get(`users/${DAY}`)
    expect(before).toMatchObject({ status: 'landed', error: null, rowCount: 2 + rows.length + 5 })
    await rebuildLedger(data, 'o', (message) => expect.fail(message))
    expect((await ledgerOf(data, 'o')).get(`users/${DAY}`)).toEqual(before)
  })
})

describe('law 9: contradictory pages', () => {
  const page = (users: string[], more: unknown, next: unknown, date: string = DAY) => ({
    data: users.map((user) => ({ user_id: user, date })),
    meta: { org_id: 'o', has_more: more, next_cursor: next },
  })

  it.each<[string, unknown, RegExp]>([
    ['a cursor that was given before', page(['u5'], true, 'u2'), /repeated.*\(request req-5\)/],
    ['a cursor that does not move', page(['u5'], true, 'u4'), /repeated.*\(request req-5\)/],
    ['has_more without a cursor', page(['u5'], true, null), /there is no cursor.*req-5/],
    ['a row of another day', page(['u5'], true, 'u6', '2026-01-15'), /not requested.*req-5/],
    [
      'a row without a date',
      page(['u5'], true, 'u6', 'ann@x.test'),
      /row 0: 'date' is a string of 10/,
    ],
  ])('with %s fail the day at once, and leave no page buffer', async (_, body, message) => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ cursor }, response) => {
      if (cursor !== 'u4') return undefined
      const headers = { date: new Date(MORNING).toUTCString(), 'x-request-id': 'req-5' }
      sendJson(response, 200, body, headers)
      return true
    }
    const { result } = await land(paged, data)
    expect(result).toMatchObject({ failed: 1 })
    expect(paged.cursors()).toEqual(['', 'u2', 'u4'])
    const interval = (await ledgerOf(data, 'o')).get(`users/${DAY}`)
    expect(interval?.error).toMatch(message)
    expect(interval?.requestId).toBe('req-5')
    expect(await pageBuffersIn(data)).toEqual([])
  })

  it('with a cursor that was given before the interruption fail the day', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await interrupted(paged, data)
    paged.disturb = ({ cursor }, response) => {
      if (cursor !== 'u4') return undefined
      sendJson(response, 200, page(['u5'], true, 'u2'), { date: new Date(MORNING).toUTCString() })
      return true
    }
    await land(paged, data)
    expect((await ledgerOf(data, 'o')).get(`users/${DAY}`)?.error).toContain('was repeated')
    expect(await pageBuffersIn(data)).toEqual([])
  })

  it.each([
    ['empty', []],
    ['equal', ['u1', 'u2']],
  ])('fail the day after 50 %s pages, each with a new cursor', async (_, users) => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    let pages = 0
    paged.disturb = ({ endpoint }, response) => {
      if (endpoint !== 'users') return undefined
      pages += 1
      const headers = { date: new Date(MORNING).toUTCString(), 'x-request-id': `req-${pages}` }
      sendJson(response, 200, page(users, true, `c${pages}`), headers)
      return true
    }
    await land(paged, data)
    expect(pages).toBe(users.length === 0 ? 50 : 51)
    const error = (await ledgerOf(data, 'o')).get(`users/${DAY}`)?.error
    expect(error).toContain(`brought no new user (request req-${pages})`)
    expect(await pageBuffersIn(data)).toEqual([])
  })

  it.each<[string, unknown]>([
    ['text', 'true'],
    ['absent although there is a cursor', undefined],
  ])('with a has_more that is %s fail the day', async (_, more) => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ cursor }, response) => {
      if (cursor !== 'u2') return undefined
      sendJson(response, 200, page(['u3', 'u4'], more, 'u4'))
      return true
    }
    await land(paged, data)
    const interval = (await ledgerOf(data, 'o')).get(`users/${DAY}`)
    expect(interval).toMatchObject({ status: 'failed' })
    expect(interval?.error).toContain("'has_more'")
  })

  it('land when only a page is empty or the last page has a cursor', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ endpoint, cursor }, response) => {
      if (endpoint !== 'users') return undefined
      const headers = { date: new Date(MORNING).toUTCString() }
      if (cursor === null) sendJson(response, 200, page([], true, 'a'), headers)
      else if (cursor === 'a') sendJson(response, 200, page(['u1'], true, 'u1'), headers)
      else sendJson(response, 200, page([], false, 'u9'), headers)
      return true
    }
    const { result } = await land(paged, data)
    expect(result).toMatchObject({ failed: 0 })
    expect((await ledgerOf(data, 'o')).get(`users/${DAY}`)).toMatchObject({ rowCount: 1 })
  })
})

describe('a page buffer', () => {
  it('is removed when its day is no longer due, unless it belongs to another organisation', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await interrupted(paged, data)
    await land(paged, data)
    const others = ['p-users-2026-01-16.pages', 'o-x-users-2026-01-16.rows', 'notes.txt']
    const ours = [
      BUFFER_NAME,
      'o-activity-2026-01-16.pages',
      'o-users-2025-12-31.pages',
      'o-tokens-2026-01-16.rows',
    ]
    for (const name of [...others, ...ours]) {
      await appendFile(join(data, 'state', 'parts', name), 'x')
    }
    await land(paged, data)
    expect(await pageBuffersIn(data)).toEqual(others.toSorted())
  })

  it('of a due day is kept by a run that requests only other resources', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await interrupted(paged, data)
    await syncFrom(paged.url, data, { only: ['tokens'], world: paged.worldAt() })
    expect(await pageBuffersIn(data)).toEqual([BUFFER_NAME])
  })
})
