import { identifier, type Database } from '../lib/duckdb.ts'
import { rawFolder, versionsUpTo, versionTime } from '../lake/layout.ts'
import { isAnalytics } from '../lake/resources.ts'
import { statement, fill } from '../lib/package.ts'
import { BATCH_STATEMENTS, type DaySource } from './batch.ts'
import { ENTITIES, keySql, type Entity } from './entities.ts'
import { MACROS, parsedSql } from './items.ts'
import { makerOf, type BaseEntity, type NormalizeOptions } from './plan.ts'

const VERSIONS = statement('restatements/versions')
const CURRENT = statement('restatements/current')
const SERVED_TABLE = statement('restatements/served_table')
const SERVED = statement('restatements/served')
const CHANGES = statement('restatements/changes')

const COMPARED = ENTITIES.filter(({ metrics }) => metrics.size > 0)

/**
 * What the platform said of a day and later said otherwise: every metric of every
 * version compared with the version before it. A day with one version has nothing.
 */
export const RESTATEMENTS: BaseEntity = {
  name: 'restatements',
  resource: null,
  madeBy: 'restatements',
  maker: makerOf(() => [
    ...[MACROS, ...BATCH_STATEMENTS, VERSIONS, CURRENT, SERVED_TABLE, CHANGES],
    ...COMPARED.flatMap((each) => [parsedSql(each.resource), servedSql(each, '')]),
  ]),
  sources: restatedDays,
  select: async (database, batch) => {
    await batch.leaveOutDisplaced()
    const restated = batch.days.filter(({ files }) => files.length > 1)
    await prepare(database, restated)
    if (restated.length > 0) {
      await database.run(CURRENT)
      await batch.parseEarlier()
      for (const entity of COMPARED.filter(({ resource }) => resource === batch.resource)) {
        await database.run(servedSql(entity, batch.orgId))
      }
    }
    return batch.daysSql(batch.days, CHANGES)
  },
}

async function restatedDays({ dataFolder, orgId, ledger }: NormalizeOptions): Promise<DaySource[]> {
  const days: DaySource[] = []
  for (const { resource, day, file, versions } of ledger.values()) {
    if (file === null || versions < 2 || !isAnalytics(resource)) continue
    const files = await versionsUpTo(rawFolder(dataFolder, orgId, resource, day), file)
    if (files.length > 1) days.push({ resource, day, files })
  }
  return days
}

async function prepare(database: Database, days: readonly DaySource[]): Promise<void> {
  const rows = days.flatMap(({ day, files }) =>
    files.map((file, index) => ({
      activity_date: day,
      file,
      number: index + 1,
      versions: files.length,
      fetched_at: new Date(versionTime(file)).toISOString(),
    })),
  )
  await database.rows(VERSIONS, { rows: JSON.stringify(rows) })
  await database.run(SERVED_TABLE)
}

function servedSql(entity: Entity, orgId: string): string {
  const { name, metrics } = entity
  const columns = [...metrics].map(([metric, column]) => `${column} as ${identifier(metric)}`)
  return fill(SERVED, {
    key: keySql(entity, orgId),
    metrics: columns.join(', '),
    names: [...metrics.keys()].map(identifier).join(', '),
    select: statement(`base/${name}`),
  })
}
