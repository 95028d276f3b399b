import { cp } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { rawDays } from '../../src/lake/raw-days.ts'
import { courseOf, killAt, pointsOf, type Command } from '../kill/victim.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { rawFiles, rawRows, rowsOfVersions } from './raw-rows.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

const ORG = 'org_demo'
const NOW = Date.parse('2026-03-05T05:00:00Z')

it('law 3: compact that is killed at any write and runs again leaves the same lake', async () => {
  const emulator = await standIn({ now: () => NOW, users: 2 })
  const victim: Command = {
    args: ['compact', '--log', 'none'],
    url: emulator.url,
    key: emulator.keys.manager,
  }
  const before = await temporaryFolder()
  const days = ['--only', 'tokens', '--to', '2026-01-17']
  const { code, err } = await command(
    ['sync', ...days, '--log', 'none'],
    environmentOf(emulator, before),
  )
  expect(code, err).toBe(0)
  const [rows, versions] = [await rawRows(before), await rowsOfVersions(before, ORG)]
  const landed = await rawDays(before, ORG)

  const copy = async (): Promise<string> => {
    const data = await temporaryFolder()
    await cp(before, data, { recursive: true })
    return data
  }
  const undisturbed = await copy()
  const course = await courseOf(victim, undisturbed)
  const files = await rawFiles(undisturbed)
  expect(files.length).toBeLessThan((await rawFiles(before)).length)

  const points = pointsOf(course).filter(({ site }) => /lake\/merge/.test(site))
  expect(points.map(({ site }) => site.split(' ')[0])).toEqual(
    expect.arrayContaining(['duckdb', 'renameSync', 'rmSync', 'rmdirSync']),
  )
  for (const point of points) {
    const where = `${point.when} #${point.nth} of ${point.site}`
    const data = await copy()
    expect(await killAt(victim, data, point), where).toBe(true)
    expect(await rawDays(data, ORG), where).toEqual(landed)
    expect(await rowsOfVersions(data, ORG), where).toEqual(versions)
    expect(await rawRows(data, { isDistinct: true }), `${where}: none is missing`).toEqual(rows)
    await courseOf(victim, data)
    expect(await rawFiles(data), where).toEqual(files)
    expect(await rawRows(data), where).toEqual(rows)
    expect(await rowsOfVersions(data, ORG), where).toEqual(versions)
  }
}, 900_000)
