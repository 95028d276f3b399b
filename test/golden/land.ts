import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Interval } from '../../src/lake/ledger.ts'
import type { Lake } from '../support/lake.ts'

/** Lands the nights of a golden lake: all of them, or those that `isChosen`. */
export async function landGolden(
  lake: Lake,
  folder: string,
  isChosen: (night: string) => boolean = () => true,
): Promise<void> {
  const nights = (await readdir(join(folder, 'input'))).sort().filter(isChosen)
  const intervals: Interval[] = []
  for (const fetched of nights) intervals.push(...(await write(lake, folder, fetched)))
  await lake.record(...intervals)
}

/**
 * Writes the responses of one night: each line between the first and the last is a row, as served.
 * A response without days belongs to that night.
 */
async function write(lake: Lake, folder: string, fetched: string): Promise<Interval[]> {
  const intervals: Interval[] = []
  for (const file of await readdir(join(folder, 'input', fetched))) {
    const text = await readFile(join(folder, 'input', fetched, file), 'utf8')
    const lines = text.trim().split('\n').slice(1, -1)
    const days = /"start_date":"(.+?)","end_date":"(.+?)"/.exec(text)
    const [, first = fetched, last = fetched] = days ?? []
    for (let day = first; day <= last; day = nextDay(day)) {
      const rows = lines.filter((line) => days === null || line.includes(`"date":"${day}"`))
      const items = rows.map((line) => line.replace(/,$/, ''))
      const resource = file.replace('.json', '')
      intervals.push(await lake.write(resource, day, `${fetched}T05:00:00Z`, items))
    }
  }
  return intervals
}

function nextDay(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
}
