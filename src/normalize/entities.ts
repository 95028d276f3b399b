import { identifier, literal } from '../lib/duckdb.ts'
import { ENTITY_ENTRIES, RESOURCES, type Shape } from '../lake/resources.ts'
import { isFieldset, isList } from './documented.ts'

/** One typed, flat table of the base, and the raw resource it is made from. */
export interface Entity {
  /** Names its statement, `sql/base/<name>.sql`, and its folder in the lake. */
  readonly name: string
  readonly resource: string
  /** The columns that tell its rows apart within a day. None: one row a day, the organisation's. */
  readonly key: readonly string[]
  /** What is compared from version to version: SQL of its columns, by the API's path to the metric. */
  readonly metrics: ReadonlyMap<string, string>
}

export const ENTITIES: readonly Entity[] = [
  ...RESOURCES.flatMap(({ name: resource, item, entities }) =>
    Object.entries(entities).map(([name, { key = '', path = '', metrics }]) => ({
      name,
      resource,
      key: wordsOf(key),
      metrics: new Map(
        (metrics === undefined ? textsOf(item, path, key) : wordsOf(metrics)).map((metric) =>
          metricOf(path, metric),
        ),
      ),
    })),
  ),
  ...Object.entries(ENTITY_ENTRIES).flatMap(([resource, { entities }]) =>
    entities.map((name) => ({ name, resource, key: [], metrics: new Map<string, string>() })),
  ),
]

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

/** Columns of a key of which a name that the API did not send is written otherwise than `(unnamed)`. */
const UNATTRIBUTED = ['user_id', 'model_id']

/**
 * The key as one SQL text: the organisation's id, else its parts with `/` between
 * them. In all parts but the last a `/` is `%2F`, so that no two keys are one.
 */
export function keySql({ key, resource }: Entity, orgId: string): string {
  if (key.length === 0) return literal(orgId)
  const parts = key.map((column, index) => {
    const isUnattributed = UNATTRIBUTED.includes(column) || resource === 'tokens_by_model'
    const otherwise = literal(isUnattributed ? '(unattributed)' : '(unnamed)')
    const name = `coalesce(nullif(${identifier(column)}, ''), ${otherwise})`
    return index === key.length - 1 ? name : `replace(replace(${name}, '%', '%25'), '/', '%2F')`
  })
  return parts.join(" || '/' || ")
}
