import { identifier, literal } from '../lib/duckdb.ts'
import { rawFolder, versionTime } from '../lake/layout.ts'
import { versionsIn, versionsUpTo } from '../lake/raw-days.ts'
import {
  ENTITIES,
  isAnalytics,
  isFieldset,
  isList,
  RESOURCES,
  type Shape,
} from '../lake/resources.ts'
import { statement, fill } from '../lib/package.ts'
import { BATCH_STATEMENTS, type DaySource, MACROS, parsedSql } from './batch.ts'
import {
  currentDays,
  digestOfStatements,
  isRestated,
  type BaseEntity,
  type NormalizeOptions,
} from './base-plan.ts'
import { SCHEMA_DRIFT } from './drift.ts'

type Compared = (typeof COMPARED)[number]

/** The base entities of analytics: their keys, and the compared SQL by the API's path. */
const COMPARED = RESOURCES.flatMap(({ name: resource, item, entities }) =>
  Object.entries(entities).map(([name, { key = '', path = '', metrics }]) => {
    const compared = metrics === undefined ? textsOf(item, path, key) : wordsOf(metrics)
    return {
      name,
      resource,
      key: wordsOf(key),
      metrics: new Map(compared.map((each) => metricOf(path, each))),
    }
  }),
)

/**
 * What the platform later reported differently: compares every metric of each version of a day
 * with the version before it. A day with one version has no rows.
 */
const RESTATEMENTS: BaseEntity = {
  name: 'restatements',
  resource: null,
  errorLabel: 'restatements',
  statementsDigest: digestOfStatements(() => [
    ...[MACROS, ...BATCH_STATEMENTS],
    ...['versions', 'current', 'served_table', 'changes'].map(ownStatement),
    ...COMPARED.flatMap((each) => [parsedSql(each.resource), servedSql(each, '')]),
  ]),
  sources: restatedDays,
  prepareAndSelect: async (batch) => {
    const { database } = batch
    await batch.removeRepeated()
    const restated = batch.days.filter(isRestated)
    const { orgId } = restated[0] ?? {} // all are of one: see `groupsOf`
    if (orgId === undefined) return batch.daysSql(ownStatement('no_changes'))
    await database.rows(ownStatement('versions'), { rows: JSON.stringify(versionRows(restated)) })
    await database.run(ownStatement('served_table'))
    await database.run(ownStatement('current'))
    await batch.parseEarlier()
    for (const entity of COMPARED.filter(({ resource }) => resource === batch.resource)) {
      await database.run(servedSql(entity, orgId))
    }
    return batch.daysSql(fill(ownStatement('changes'), { org_id: literal(orgId) }))
  },
}

function ownStatement(name: string): string {
  return statement(`restatements/${name}`)
}

/**
 * Every table made from raw, in the order in which a batch makes them: first from all items as
 * served; then, after repeated items are removed, from the last item of each key; last with the
 * earlier versions added.
 */
export const BASE_ENTITIES: readonly BaseEntity[] = [
  SCHEMA_DRIFT,
  ...[...ENTITIES].map(flattened),
  RESTATEMENTS,
]

/** An entity that one statement makes of the parsed items of its resource. */
function flattened([name, resource]: readonly [string, string]): BaseEntity {
  const select = (): string => statement(`base/${name}`)
  return {
    name,
    resource,
    errorLabel: `sql/base/${name}.sql`,
    statementsDigest: digestOfStatements(() => [
      MACROS,
      ...BATCH_STATEMENTS,
      parsedSql(resource),
      select(),
    ]),
    sources: (options) => currentDays(options, (each) => each.resource === resource),
    prepareAndSelect: async (batch) => {
      await batch.removeRepeated()
      return select()
    },
  }
}

/** Digest of the statements that make a table of base; empty for an unknown one. */
export function statementsDigestOf(name: string): string {
  if (name === 'intervals') return intervalsDigest()
  return BASE_ENTITIES.find((each) => each.name === name)?.statementsDigest() ?? ''
}

/** Every build writes this table, not `normalize`. */
const intervalsDigest = digestOfStatements(() => [statement('base/steps/intervals')])

function restatedDays({ dataFolder, orgId, ledger }: NormalizeOptions): DaySource[] {
  const days: DaySource[] = []
  for (const { resource, day, file, versions } of ledger.values()) {
    if (file === null || versions < 2 || !isAnalytics(resource)) continue
    const files = versionsUpTo(versionsIn(rawFolder(dataFolder, orgId, resource, day)), file)
    if (isRestated({ files })) days.push({ orgId, resource, day, files })
  }
  return days
}

function versionRows(days: readonly DaySource[]) {
  return days.flatMap(({ day, files }) =>
    files.map((file, index) => ({
      activity_date: day,
      file,
      number: index + 1,
      versions: files.length,
      fetched_at: new Date(versionTime(file)).toISOString(),
    })),
  )
}

function servedSql(entity: Compared, orgId: string): string {
  const { name, metrics } = entity
  const columns = [...metrics].map(([metric, column]) => `${column} as ${identifier(metric)}`)
  return fill(ownStatement('served'), {
    key: keySql(entity, orgId),
    metrics: columns.join(', '),
    names: [...metrics.keys()].map(identifier).join(', '),
    select: statement(`base/${name}`),
  })
}

/** The fields at a path that are texts, and not in the key. */
function textsOf(item: Shape, path: string, key: string): string[] {
  const own = isList(item) ? item[0] : item
  if (!isFieldset(own)) return []
  const [field = '', ...rest] = path.split('.')
  if (field !== '') return textsOf(own[field] ?? '', rest.join('.'), key)
  return Object.keys(own).filter((name) => own[name] === 'VARCHAR' && !wordsOf(key).includes(name))
}

function wordsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(' ')
}

/** A column has the name of its field; that of a `count`, which is a function, is `count_value`. */
function metricOf(path: string, metric: string): readonly [string, string] {
  const [field = '', column = field === 'count' ? 'count_value' : field] = metric.split('=')
  return [`${path}${field}`, field === 'billable_tokens' ? `credits_text(${column})` : column]
}

/** Key columns whose missing values are written as `(unattributed)`, not `(unnamed)`. */
const UNATTRIBUTED = ['user_id', 'model_id']

/**
 * The key as one SQL text: the organisation's id, else its parts with `/` between
 * them. In all parts but the last a `/` is `%2F`, so that no two keys are one.
 */
function keySql({ key, resource }: Compared, orgId: string): string {
  if (key.length === 0) return literal(orgId)
  const parts = key.map((column, index) => {
    const isUnattributed = UNATTRIBUTED.includes(column) || resource === 'tokens_by_model'
    const otherwise = literal(isUnattributed ? '(unattributed)' : '(unnamed)')
    const name = `coalesce(nullif(${identifier(column)}, ''), ${otherwise})`
    return index === key.length - 1 ? name : `replace(replace(${name}, '%', '%25'), '/', '%2F')`
  })
  return parts.join(" || '/' || ")
}
