import { stat } from 'node:fs/promises'
import { ExitCode, messageOf } from '../lib/errors.ts'
import { size } from '../lib/text.ts'
import { z } from 'zod'
import { withWarehouse } from '../serve/warehouse.ts'
import type { Database } from '../lib/duckdb.ts'
import { freeBytes, probeFolder, writableAncestor } from '../lib/disk.ts'
import { orIfMissing } from '../lib/files.ts'
import { warehousePath } from '../lake/layout.ts'
import { describeOwner, leaseStatus } from '../lib/lock.ts'
import { verifyPublished } from '../lake/published-record.ts'
import { hasRedactionKey } from '../lib/secrets/redaction.ts'
import { statement } from '../lib/package.ts'
import { failure, ok, warning, wrong, type Finding } from './finding.ts'

const MB = 1024 * 1024

/** A build writes the next warehouse beside the published one. */
const ROOM_FOR_RAW = 256 * MB

/** Whether the folder can be worked in, and has room for the next build. */
export async function checkDisk(dataFolder: string): Promise<Finding[]> {
  const hint = 'Name another folder with --data or AGENT_WAREHOUSE_DATA, or fix its permissions.'
  try {
    const there = await writableAncestor(dataFolder)
    if (there === dataFolder) await probeFolder(dataFolder)
    const what =
      there === dataFolder
        ? `${dataFolder} can be written, synced and renamed in`
        : `${dataFolder} is not there yet: the first run makes it`
    return [ok('data folder', what), await room(there, warehousePath(dataFolder))]
  } catch (error) {
    const message = `${dataFolder} cannot be written: ${messageOf(error)}`
    return [wrong('data folder', ExitCode.usage, message, hint)]
  }
}

async function room(folder: string, warehouse: string): Promise<Finding> {
  const free = await freeBytes(folder)
  const published = await orIfMissing(stat(warehouse), undefined)
  const needed = ROOM_FOR_RAW + 2 * (published?.size ?? 0)
  const message = `${size(free)} free`
  if (free >= needed) return ok('disk', message)
  return warning('disk', message, `Make room: the next build may need ${size(needed)} in addition.`)
}

/** Who works in the folder. */
export async function checkLock(dataFolder: string, now: number): Promise<Finding> {
  const lease = await leaseStatus(dataFolder, now)
  if (lease === undefined) return ok('lock', 'no run is under way')
  const who = describeOwner(lease, now)
  const beat = `last heartbeat ${lease.heartbeatAt}`
  if (lease.state === 'alive') return ok('lock', `${who} is under way, ${beat}`)
  const message = `${who} ${lease.state === 'dead' ? 'was killed' : `is silent, ${beat}`}`
  return warning('lock', message, 'Nothing needs to be done: the next run takes over.')
}

/** Whether secrets can be redacted as they were; nothing before anything was. */
export async function checkKey(dataFolder: string): Promise<Finding[]> {
  try {
    if (!(await hasRedactionKey(dataFolder))) return []
    return [ok('redaction', 'the key of the data folder is there')]
  } catch (error) {
    return [failure('redaction', error, ExitCode.usage)]
  }
}

/** Whether readers can open what is published, and whether it is what was published. */
export async function checkWarehouse(dataFolder: string): Promise<Finding[]> {
  const path = warehousePath(dataFolder)
  const verdict = await verifyPublished(path)
  if (verdict.state === 'absent') {
    return [warning('warehouse', 'nothing is published yet', 'To publish: agent-warehouse run.')]
  }
  if (verdict.state === 'changed') {
    const message = `${path} is not the file that was published: ${verdict.reason}`
    const hint = 'agent-warehouse build replaces it, and builds everything again from base.'
    return [wrong('warehouse', ExitCode.partial, message, hint)]
  }
  try {
    return await withWarehouse(path, async (database) => {
      const [row] = await database.rows('select count(*) as runs from meta.runs')
      const opens = `${path} opens; ${Number(row?.['runs'] ?? 0)} runs are on record in it`
      return [ok('warehouse', opens), ...(await checkTeams(database))]
    })
  } catch (error) {
    const hint = 'Make it again: agent-warehouse build.'
    return [wrong('warehouse', ExitCode.partial, messageOf(error), hint)]
  }
}

const LISTED_USERS = 10
const userRows = z.array(z.object({ user_id: z.string() }))

/** Users without a team, where there are teams: by id, for an address is personal. */
async function checkTeams(database: Database): Promise<Finding[]> {
  const users = userRows.parse(await database.rows(statement('seeds/users_without_team')))
  if (users.length === 0) return []
  const ids = users.slice(0, LISTED_USERS).map(({ user_id }) => user_id)
  const rest = users.length > LISTED_USERS ? ` and ${users.length - LISTED_USERS} more` : ''
  const what = users.length === 1 ? 'user has' : 'users have'
  const message = `${users.length} ${what} no team: ${ids.join(', ')}${rest}`
  const query = 'select user_label from dim_user where team is null'
  return [warning('teams', message, `Add them to seeds/teams.csv. To list them: query "${query}"`)]
}
