import { createHash } from 'node:crypto'
import { testName } from '../project/properties.ts'
import type { GenericTest, ModelNode, TestNode, UnitTestNode } from '../project/types.ts'

/** What is written into artifacts: JSON. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export function resourceType(
  node: Pick<ModelNode, 'seed' | 'snapshot'>,
): 'model' | 'seed' | 'snapshot' {
  if (node.seed !== null) return 'seed'
  return node.snapshot === null ? 'model' : 'snapshot'
}

/** `model.<project>.<name>`; a seed's begins with `seed`, a snapshot's with `snapshot`. */
export function modelId(
  project: string,
  node: Pick<ModelNode, 'name' | 'seed' | 'snapshot'>,
): string {
  return `${resourceType(node)}.${project}.${node.name}`
}

/** `source`: `source.table`. */
export function sourceId(project: string, source: string): string {
  return `source.${project}.${source}`
}

export function singularTestId(project: string, { name }: Pick<TestNode, 'name'>): string {
  return `test.${project}.${name}`
}

export function unitTestId(
  project: string,
  { name, model }: Pick<UnitTestNode, 'name' | 'model'>,
): string {
  return `unit_test.${project}.${model}.${name}`
}

/** What dbt calls a generic test. */
export interface GenericTestName {
  readonly id: string
  readonly name: string
  /** Of its compiled file: at most 63 characters. */
  readonly alias: string
  /** Arguments of the test's macro. */
  readonly kwargs: JsonObject
}

/**
 * dbt's own rules (dbt Core 1.12: `synthesize_generic_test_names`,
 * `create_test_node`): the name is made of the arguments in the order of their
 * names, the id ends with a digest of how Python shows the test's metadata.
 */
export function genericTestName(
  project: string,
  model: Pick<ModelNode, 'name'>,
  test: GenericTest,
): GenericTestName {
  const { kind } = test.arguments
  const own = {
    ...(test.column === null ? {} : { column_name: test.column }),
    ...argumentsOf(test),
  }
  const isNamed = test.name !== testName(test.arguments, model.name, test.column)
  const full = isNamed ? test.name : [kind, model.name, flat(own)].join('_')
  const kwargs = { ...own, model: `{{ get_where_subquery(ref('${model.name}')) }}` }
  const shown = shownByPython({ kwargs, name: kind, namespace: 'None' })
  return {
    id: `test.${project}.${full}.${md5(`${full}${shown}`).slice(-10)}`,
    name: full,
    alias: full.length < 64 ? full : `${`${kind}_${model.name}`.slice(0, 30)}_${md5(full)}`,
    kwargs,
  }
}

/** As the yml has them. */
function argumentsOf({ arguments: test }: GenericTest): JsonObject {
  switch (test.kind) {
    case 'accepted_values':
      return { values: test.values }
    case 'relationships':
      return { to: `ref('${test.to}')`, field: test.field }
    case 'unique_key':
      return { columns: test.columns }
    case 'unique':
    case 'not_null':
      return {}
  }
}

function flat(kwargs: JsonObject): string {
  return sorted(kwargs)
    .flatMap(([, value]) => (Array.isArray(value) ? (value as readonly Json[]) : [value]))
    .map((value) => pythonText(value).replaceAll(/[^0-9a-zA-Z_]+/g, '_'))
    .join('__')
}

/** `repr` of a dict, its keys sorted, every value that is no dict or list made text. */
function shownByPython(value: Json): string {
  if (Array.isArray(value)) {
    return `[${(value as readonly Json[]).map(shownByPython).join(', ')}]`
  }
  if (isObject(value)) {
    const members = sorted(value).map(([key, each]) => `${quoted(key)}: ${shownByPython(each)}`)
    return `{${members.join(', ')}}`
  }
  return quoted(pythonText(value))
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(object: JsonObject): [string, Json][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))
}

function pythonText(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  if (!escaped.includes("'")) return `'${escaped}'`
  return escaped.includes('"') ? `'${escaped.replaceAll("'", "\\'")}'` : `"${escaped}"`
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}

/** What dbt's checksum of a file is of: another layout is no other file. */
export function compact(code: string): string {
  return code.trim().split(/\s+/).join(' ')
}

export function sha256(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}
