import { hash } from 'node:crypto'
import { referenceOf, testName } from '../project/properties.ts'
import type { GenericTest, ModelNode, Project } from '../project/types.ts'

export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export interface Entry extends JsonObject {
  readonly unique_id: string
  readonly depends_on?: { readonly macros: readonly string[]; readonly nodes?: readonly string[] }
}

/** The release of dbt Core with the same artifacts; consumers check it. */
const DBT_VERSION = '1.12.6'

/** One build, as its artifacts record it. Times are milliseconds since the epoch. */
export interface Invocation {
  readonly runId: string
  readonly startedAt: number
  readonly finishedAt: number
  /** For example `agent-warehouse 0.1.0`. */
  readonly builder: string
}

/** The first member of every artifact; `schema` as in `manifest/v12`. */
export function metadata(schema: string, invocation: Invocation): JsonObject {
  const { runId, startedAt, finishedAt, builder } = invocation
  return {
    dbt_schema_version: `https://schemas.getdbt.com/dbt/${schema}.json`,
    dbt_version: DBT_VERSION,
    generated_at: iso(finishedAt),
    invocation_id: asUuid(hash('sha256', runId)),
    invocation_started_at: iso(startedAt),
    env: { built_by: builder, run_id: runId },
  }
}

export function iso(ms: number): string {
  return new Date(ms).toISOString()
}

/** Consumers read it as a UUID. */
function asUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
}

/** dbt's name of the kind of a node. */
export function resourceType({ seed, snapshot }: ModelNode): 'model' | 'seed' | 'snapshot' {
  if (seed !== null) return 'seed'
  return snapshot === null ? 'model' : 'snapshot'
}

/** `model.<project>.<name>`; a seed's begins with `seed`, a snapshot's with `snapshot`. */
export function modelId(project: string, node: ModelNode): string {
  return `${resourceType(node)}.${project}.${node.name}`
}

/** The name of an entry, and its place in the project. */
export function placed(
  type: string,
  id: string,
  name: string,
  file: string,
  { name: project }: Project,
) {
  const path = file.split('/').slice(1)
  return {
    name,
    resource_type: type,
    unique_id: id,
    package_name: project,
    path: path.join('/'),
    original_file_path: file,
    fqn: [project, ...path.slice(0, -1), name],
  }
}

/**
 * dbt's rules (dbt Core 1.12: `synthesize_generic_test_names`,
 * `create_test_node`): the name consists of the arguments sorted by name, and the id ends
 * with a digest of the test's metadata as Python prints it. `alias`: the name of its compiled file,
 * at most 63 characters; `kwargs`: the arguments of the test's macro.
 */
export function genericTestName(
  project: string,
  model: Pick<ModelNode, 'name'>,
  test: GenericTest,
) {
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
    id: `test.${project}.${full}.${hash('md5', `${full}${shown}`).slice(-10)}`,
    name: full,
    alias: full.length < 64 ? full : `${`${kind}_${model.name}`.slice(0, 30)}_${hash('md5', full)}`,
    kwargs,
  }
}

function argumentsOf({ arguments: test }: GenericTest): JsonObject {
  const own = Object.fromEntries(Object.entries(test).filter(([name]) => name !== 'kind'))
  const reference = referenceOf(test)
  return reference === undefined ? own : { ...own, to: `ref('${reference.model}')` }
}

function flat(kwargs: JsonObject): string {
  return sorted(kwargs)
    .flatMap(([, value]) => (isList(value) ? value : [value]))
    .map((value) => pythonText(value).replaceAll(/[^0-9a-zA-Z_]+/g, '_'))
    .join('__')
}

/** Python's `repr` of a dict with sorted keys, in which all other values are converted to text. */
function shownByPython(value: Json): string {
  if (isList(value)) return `[${value.map(shownByPython).join(', ')}]`
  if (typeof value !== 'object' || value === null) return quoted(pythonText(value))
  const members = sorted(value).map(([key, each]) => `${quoted(key)}: ${shownByPython(each)}`)
  return `{${members.join(', ')}}`
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
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

/** The text of which dbt computes a file's checksum, which ignores layout. */
export function compact(code: string): string {
  return code.trim().split(/\s+/).join(' ')
}

/** The first page of dbt's documentation. */
const OVERVIEW = {
  name: '__overview__',
  file: 'models/overview.md',
  text: 'Facts and dimensions of the usage of an AI-agent platform: schema `main` for marts, `staging` and `intermediate` for what they are made from.',
}

/** The doc blocks of a project, including the first page. */
export function docEntries(project: Project): Entry[] {
  return [OVERVIEW, ...project.docs].map(({ name, file, text }) => ({
    name,
    resource_type: 'doc',
    unique_id: `doc.${project.name}.${name}`,
    package_name: project.name,
    path: file.split('/').slice(1).join('/'),
    original_file_path: file,
    block_contents: text,
  }))
}
