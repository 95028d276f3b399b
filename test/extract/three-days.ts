import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Day } from '../../src/lib/days.ts'
import { quarantineFolder, rawFolder } from '../../src/lake/layout.ts'
import { sendJson, temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { syncFrom } from '../flows/platform.ts'

export const NOW = Date.parse('2026-01-17T06:00:00Z')
export const DAY = '2026-01-15' as Day
const MS_PER_DAY = 86_400_000
export const ASKED = ['users', 'activity', 'tokens_by_model', 'productivity']

/** A platform of three days whose every count is `value`, and the requests that it received. */
export async function platform() {
  const platform = { value: 1, now: NOW }
  const { url, requests } = await testServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://platform').searchParams
    const [first, last] = [query.get('startDate') ?? '', query.get('endDate') ?? '']
    const rows = ['2026-01-14', '2026-01-15', '2026-01-16']
      .filter((date) => date >= first && date <= last)
      .flatMap((date) =>
        ['ada', 'bob'].map((user) => ({ date, user_id: user, sessions: platform.value })),
      )
    const headers = { date: new Date(platform.now).toUTCString() }
    sendJson(response, 200, { data: rows, meta: { org_id: 'o', has_more: false } }, headers)
  })
  const data = await temporaryFolder()
  const sync = async (now = NOW) => {
    platform.now = now
    return syncFrom(url, data, { only: ASKED, world: testWorld(now) })
  }
  return { platform, data, requests, sync }
}

export async function versions(data: string, resource = 'users', day = DAY): Promise<string[]> {
  return (await readdir(rawFolder(data, 'o', resource, day))).sort()
}

export async function quarantined(data: string, resource = 'users', day = DAY): Promise<string[]> {
  return readdir(quarantineFolder(data, 'o', resource, day)).catch(() => [])
}

export async function newest(data: string): Promise<string> {
  const name = (await versions(data)).at(-1)
  if (name === undefined) throw new Error('no version')
  return join(rawFolder(data, 'o', 'users', DAY), name)
}

export const flip = async (path: string): Promise<void> => {
  const bytes = await readFile(path)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(path, bytes)
}

export const DAMAGE: readonly [string, (path: string) => Promise<void>][] = [
  ['one bit flipped', flip],
  ['nothing in it', (path) => truncate(path, 0)],
  ['its end cut off', async (path) => truncate(path, (await readFile(path)).length - 9)],
  ['something else in it', (path) => writeFile(path, 'PAR1 and then a letter to the editor PAR1')],
  [
    'a folder in its place',
    async (path) => {
      await rm(path)
      await mkdir(path)
    },
  ],
]

export const warnings = (world: {
  events: readonly { type: string; message?: string }[]
}): string[] =>
  world.events.flatMap(({ type, message }) => (type === 'warning' ? [message ?? ''] : []))

export const LOOK = NOW + MS_PER_DAY

/** Removes the last line of the day from the journal, as a crash before its write would. */
export async function unrecord(data: string): Promise<void> {
  const path = join(data, 'state', 'ledger', 'o.ndjson')
  const lines = (await readFile(path, 'utf8')).split('\n')
  const isIt = (line: string): boolean => line.includes('"users"') && line.includes(DAY)
  const last = lines.findLastIndex(isIt)
  await writeFile(path, lines.filter((_, index) => index !== last).join('\n'))
}
