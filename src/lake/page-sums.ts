import { renameSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Day } from '../lib/days.ts'
import { confirmLease, pathSegment, readJson, withTemporary } from '../lib/files.ts'

type Lake = Readonly<{ dataFolder: string; orgId: string }>

const whole = z.number().int().nonnegative()
const shape = z.object({
  digest: z.string(),
  users: whole,
  pages: z.array(z.object({ rows: whole, characters: whole, sha256: z.string() })).readonly(),
})

/**
 * The checksums of the pages of a landed day of users. A page with the same checksum has the
 * same rows, which need not be parsed. This is only an optimisation: without it, every row is
 * parsed.
 */
export type PageSums = Readonly<z.infer<typeof shape>>

/** The saved checksums of a day whose rows in the lake have this digest; null if there are none. */
export async function readPageSums(
  lake: Lake,
  resource: string,
  day: Day,
  digest: string,
  warn: (message: string) => void,
): Promise<PageSums | null> {
  const found = shape.safeParse(await readJson(pathOf(lake, resource, day), warn)).data
  return found?.digest === digest ? found : null
}

/** Saves the checksums without syncing: a file damaged by a power cut is invalid and ignored. */
export async function writePageSums(
  lake: Lake,
  resource: string,
  day: Day,
  sums: PageSums,
): Promise<void> {
  const path = pathOf(lake, resource, day)
  await withTemporary(path, async (temporary) => {
    await writeFile(temporary, `${JSON.stringify(sums)}\n`)
    confirmLease(path)
    renameSync(temporary, path)
  })
}

/** Files of `/users`, the first such resource, have no subfolder. */
function pathOf({ dataFolder, orgId }: Lake, resource: string, day: Day): string {
  const folder = join(dataFolder, 'state', 'walks', pathSegment(orgId))
  return join(folder, resource === 'users' ? '' : resource, `${day}.json`)
}
