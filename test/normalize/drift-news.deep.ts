import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addDays, parseDay } from '../../src/lib/days.ts'
import { DOCUMENTED } from './documented-rows.ts'
import { Lake } from '../support/lake.ts'

/** The warnings since the last call. */
const warnings = (lake: Lake): string[] =>
  lake.events.splice(0).flatMap((event) => (event.type === 'warning' ? [event.message] : []))

/** Lands a row of a user on each of some days, with other fields than documented. */
const landDays = async (lake: Lake, from: string, days: number, fields: object) => {
  for (let at = 0; at < days; at += 1) {
    const day = addDays(parseDay(from, 'the day'), at)
    await lake.land('users', day, '2026-04-01T03:00:00Z', [{ ...DOCUMENTED.users, ...fields }])
  }
}

describe('schema drift', () => {
  it('is reported once across months, and again only for a new finding', async () => {
    const lake = await Lake.open()
    await landDays(lake, '2026-01-30', 4, { agents: 3 })
    await lake.normalize()
    expect(warnings(lake)).toEqual([
      'org/1: $.agents of users (integer) is not documented, and ignored: served since 2026-01-30, 4 days',
    ])
    await landDays(lake, '2026-02-03', 1, { agents: 4 })
    await rm(join(lake.data, 'lake', 'base'), { recursive: true })
    await lake.normalize()
    expect(warnings(lake)).toEqual([])
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`field_${n}`, n]))
    await landDays(lake, '2026-02-04', 1, { ...many, sessions: 'abc' })
    await lake.normalize()
    const news = warnings(lake)
    expect(news).toHaveLength(11)
    expect(news[0]).toContain('$.sessions of users (integer) cannot be read, and is NULL')
    expect(news.at(-1)).toContain('3 more fields')
  })

  it('is reported once all months are written, also by the run after one that was killed before', async () => {
    const lake = await Lake.open()
    await landDays(lake, '2026-01-30', 4, { agents: 3 })
    for (const month of ['2026-02', '2026-01']) await lake.normalize(lake.data, new Set([month]))
    expect(warnings(lake)).toEqual([])
    await lake.normalize()
    expect(warnings(lake)).toEqual([
      'org/1: $.agents of users (integer) is not documented, and ignored: served since 2026-01-30, 4 days',
    ])
  })

  it('is reported again once when it returns after it ended', async () => {
    const lake = await Lake.open()
    await landDays(lake, '2026-01-30', 2, { agents: 3 })
    await lake.normalize()
    expect(warnings(lake)).toHaveLength(1)
    await landDays(lake, '2026-02-01', 1, {})
    await lake.normalize()
    expect(warnings(lake)).toEqual([])
    await landDays(lake, '2026-02-02', 2, { agents: 3 })
    await lake.normalize()
    const returned =
      'org/1: $.agents of users (integer) is not documented, and ignored: served again'
    expect(warnings(lake)).toEqual([`${returned} since 2026-02-02, 2 days`])
    await landDays(lake, '2026-02-04', 1, { agents: 3 })
    await lake.normalize()
    await landDays(lake, '2026-02-05', 3, {})
    await rm(join(lake.data, 'lake', 'base'), { recursive: true })
    await lake.normalize()
    expect(warnings(lake)).toEqual([])
    await landDays(lake, '2026-02-08', 1, { agents: 3 })
    await landDays(lake, '2026-02-09', 1, {})
    await lake.normalize()
    expect(warnings(lake)).toEqual([`${returned} on 2026-02-08`])
  })

  it('that recurs is reported again only after a longer gap than before', async () => {
    const lake = await Lake.open()
    const days = [
      '2026-01-14',
      '2026-01-16',
      '2026-01-19',
      '2026-01-20',
      '2026-01-22',
      '2026-01-25',
    ]
    let next = parseDay('2026-01-14', 'the day')
    const reported = []
    for (const day of [...days, '2026-01-29']) {
      for (; next < day; next = addDays(next, 1)) await landDays(lake, next, 1, {})
      await landDays(lake, next, 1, { agents: 3 })
      next = addDays(next, 1)
      await lake.normalize()
      if (warnings(lake).length > 0) reported.push(day)
    }
    expect(reported).toEqual(['2026-01-14', '2026-01-16', '2026-01-19', '2026-01-29'])
  })

  it('has not returned when a day between two others is restated without it', async () => {
    const lake = await Lake.open()
    await landDays(lake, '2026-01-14', 1, { agents: 3 })
    await lake.normalize()
    expect(warnings(lake)).toHaveLength(1)
    await landDays(lake, '2026-01-15', 6, { agents: 3 })
    await lake.normalize()
    expect(warnings(lake)).toEqual([])
    for (const day of ['2026-01-17', '2026-01-18']) {
      await landDays(lake, day, 1, {})
      await lake.normalize()
      expect(warnings(lake)).toEqual([])
    }
  })

  it('is reported again when it returns after all days with it were restated', async () => {
    const lake = await Lake.open()
    await landDays(lake, '2026-01-14', 2, { agents: 3 })
    await lake.normalize()
    expect(warnings(lake)).toHaveLength(1)
    await landDays(lake, '2026-01-14', 3, {})
    await lake.normalize()
    expect(warnings(lake)).toEqual([])
    await landDays(lake, '2026-01-17', 1, { agents: 3 })
    await lake.normalize()
    expect(warnings(lake)).toEqual([
      'org/1: $.agents of users (integer) is not documented, and ignored: served again since 2026-01-17, 1 day',
    ])
    await landDays(lake, '2026-01-18', 1, { agents: 3 })
    await lake.normalize()
    expect(warnings(lake)).toEqual([])
  })

  it('does not end on an unknown day', async () => {
    const lake = await Lake.open()
    await landDays(lake, '2026-01-30', 1, { agents: 3 })
    await lake.normalize()
    expect(warnings(lake)).toHaveLength(1)
    await landDays(lake, '2026-02-02', 1, { agents: 3 })
    await lake.normalize()
    expect(warnings(lake)).toEqual([])
  })

  it('is neither reported nor recorded by a build as of an earlier time', async () => {
    const lake = await Lake.open()
    await landDays(lake, '2026-01-30', 4, { agents: 3 })
    expect(await lake.normalize(join(lake.data, 'past'))).toBeGreaterThan(0)
    expect(warnings(lake)).toEqual([])
    await lake.normalize()
    expect(warnings(lake)).toHaveLength(1)
  })

  it('is reported as past when later days are as documented', async () => {
    const lake = await Lake.open()
    await landDays(lake, '2026-01-30', 4, { hooks: undefined })
    await landDays(lake, '2026-02-03', 1, { user_id: null })
    await landDays(lake, '2026-02-04', 1, {})
    await lake.normalize()
    expect(warnings(lake)).toEqual([
      'org/1: $.user_id of users is missing, null or empty: rows without a name on 2026-02-03',
      'org/1: $.hooks of users: not served 2026-01-30 to 2026-02-02, 4 days',
    ])
  })
})
