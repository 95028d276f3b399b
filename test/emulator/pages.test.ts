import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { ask, days, parse, start, userRow, walkUsers, YESTERDAY } from './support.ts'

const WEEK = days('2026-03-09', '2026-03-15')

describe('pages of /users', () => {
  it('any limit gives the same rows in the same order', async () => {
    const emulator = await start({ users: 60, seed: 5 })
    const whole = await walkUsers(emulator, `${WEEK}&limit=100`)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (limit) => {
        expect(await walkUsers(emulator, `${WEEK}&limit=${limit}`)).toEqual(whole)
      }),
      { numRuns: 12 },
    )
  })

  it('are ordered by user id and then by date', async () => {
    const emulator = await start()
    const rows = await walkUsers(emulator, WEEK)
    const keys = rows.map((row) => `${row.user_id} ${row.date}`)
    expect(keys).toEqual(keys.toSorted())
  })

  it('hold `limit` users, not rows: a user of a week has several', async () => {
    const emulator = await start()
    const page = parse(userRow, await ask(emulator, `/users?${WEEK}&limit=3`))
    const ids = page.data.map((row) => row.user_id)
    expect(new Set(ids).size).toBe(3)
    expect(ids.length).toBeGreaterThan(3)
    expect(page.meta).toMatchObject({ has_more: true, next_cursor: ids.at(-1) })
  })

  it('hold 20 users unless told otherwise', async () => {
    const emulator = await start({ users: 100 })
    const page = parse(userRow, await ask(emulator, `/users?${WEEK}`))
    expect(new Set(page.data.map((row) => row.user_id)).size).toBe(20)
  })

  it('end without a cursor, also when the last page is exactly full', async () => {
    const emulator = await start()
    const day = days(YESTERDAY)
    const everyone = await walkUsers(emulator, day)
    const page = parse(userRow, await ask(emulator, `/users?${day}&limit=${everyone.length}`))
    expect(page.data).toHaveLength(everyone.length)
    expect(page.meta).toMatchObject({ has_more: false, next_cursor: null })
  })

  it('after the last user are empty', async () => {
    const emulator = await start()
    const last = (await walkUsers(emulator, WEEK)).at(-1)?.user_id ?? ''
    const page = parse(userRow, await ask(emulator, `/users?${WEEK}&cursor=${last}`))
    expect(page).toMatchObject({ data: [], meta: { has_more: false, next_cursor: null } })
  })

  it('a window is the union of its days', async () => {
    const emulator = await start({ users: 80, seed: 9 })
    const week = await walkUsers(emulator, WEEK)
    for (let day = 9; day <= 15; day += 1) {
      const date = `2026-03-${String(day).padStart(2, '0')}`
      const rows = await walkUsers(emulator, days(date))
      expect(rows).toEqual(week.filter((row) => row.date === date))
    }
  })

  it('are the same bytes when asked for again', async () => {
    const emulator = await start()
    const first = await ask(emulator, `/users?${WEEK}&limit=7`)
    const second = await ask(emulator, `/users?${WEEK}&limit=7`)
    expect(second.text).toBe(first.text)
  })
})
