import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { ask, days, parse, start, userRow, allUsers, YESTERDAY } from './support.ts'

const WEEK = days('2026-03-09', '2026-03-15')

describe('pages of /users', () => {
  it('have the same rows in the same order with any limit', async () => {
    const emulator = await start({ users: 60, seed: 5 })
    const whole = await allUsers(emulator, `${WEEK}&limit=100`)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (limit) => {
        expect(await allUsers(emulator, `${WEEK}&limit=${limit}`)).toEqual(whole)
      }),
      { numRuns: 12 },
    )
  })

  it('are ordered by user id and then by date', async () => {
    const emulator = await start()
    const rows = await allUsers(emulator, WEEK)
    const keys = rows.map((row) => `${row.user_id} ${row.date}`)
    expect(keys).toEqual(keys.toSorted())
  })

  it('have `limit` users, with several rows for each user of a week', async () => {
    const emulator = await start()
    const page = parse(userRow, await ask(emulator, `/users?${WEEK}&limit=3`))
    const ids = page.data.map((row) => row.user_id)
    expect(new Set(ids).size).toBe(3)
    expect(ids.length).toBeGreaterThan(3)
    expect(page.meta).toMatchObject({ has_more: true, next_cursor: ids.at(-1) })
  })

  it('have 20 users by default', async () => {
    const emulator = await start({ users: 100 })
    const page = parse(userRow, await ask(emulator, `/users?${WEEK}`))
    expect(new Set(page.data.map((row) => row.user_id)).size).toBe(20)
  })

  it('end without a cursor, also when the last page is exactly full', async () => {
    const emulator = await start()
    const day = days(YESTERDAY)
    const everyone = await allUsers(emulator, day)
    const page = parse(userRow, await ask(emulator, `/users?${day}&limit=${everyone.length}`))
    expect(page.data).toHaveLength(everyone.length)
    expect(page.meta).toMatchObject({ has_more: false, next_cursor: null })
  })

  it('are empty after the last user', async () => {
    const emulator = await start()
    const last = (await allUsers(emulator, WEEK)).at(-1)?.user_id ?? ''
    const page = parse(userRow, await ask(emulator, `/users?${WEEK}&cursor=${last}`))
    expect(page).toMatchObject({ data: [], meta: { has_more: false, next_cursor: null } })
  })

  it('of a window are the union of its days', async () => {
    const emulator = await start({ users: 80, seed: 9 })
    const week = await allUsers(emulator, WEEK)
    for (let day = 9; day <= 15; day += 1) {
      const date = `2026-03-${String(day).padStart(2, '0')}`
      const rows = await allUsers(emulator, days(date))
      expect(rows.length).toBeGreaterThan(0)
      expect(rows).toEqual(week.filter((row) => row.date === date))
    }
  })

  it('have the same bytes when they are requested again', async () => {
    const emulator = await start()
    const first = await ask(emulator, `/users?${WEEK}&limit=7`)
    const second = await ask(emulator, `/users?${WEEK}&limit=7`)
    expect(second.text).toBe(first.text)
  })
})
