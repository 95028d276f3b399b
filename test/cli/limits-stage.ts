import { writeFile } from 'node:fs/promises'
import { temporaryFolder } from '../support/helpers.ts'
import type { Stage } from './platform-stage.ts'

interface Limits {
  readonly globalLimit: number | null
  readonly userLimits: readonly { readonly email: string; readonly limit: number }[]
}

/** The limits as `limits list` prints them. */
export async function limitsOf({ run }: Stage): Promise<Limits> {
  return JSON.parse((await run(['limits', 'list', '--json'])).out) as Limits
}

/** A file of these lines. */
export async function csvOf(...lines: readonly string[]): Promise<string> {
  const file = `${await temporaryFolder()}/limits.csv`
  await writeFile(file, lines.join('\n'))
  return file
}

/** E-mail addresses of people in the organisation. */
export async function people(platform: Stage, count: number): Promise<string[]> {
  const url = `${platform.emulator.url}/api/v1/analytics/users?startDate=2026-03-09&endDate=2026-03-09&limit=100`
  const emails = new Set<string>()
  for (let cursor: string | null = ''; cursor !== null && emails.size < count;) {
    const answer = await fetch(cursor === '' ? url : `${url}&cursor=${cursor}`, {
      headers: { authorization: `Bearer ${platform.emulator.keys.manager}` },
    })
    const { data, meta } = (await answer.json()) as {
      data: { user_email: string | null }[]
      meta: { has_more: boolean; next_cursor: string | null }
    }
    for (const { user_email } of data) if (user_email !== null) emails.add(user_email)
    cursor = meta.has_more ? meta.next_cursor : null
  }
  return [...emails].slice(0, count)
}
