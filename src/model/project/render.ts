import { AppError, messageOf } from '../../lib/errors.ts'
import { known, ProjectError, requireKnown, unknownName, type Place } from './errors.ts'
import { plain } from './tags.ts'
import { PRINT, type ParsedTemplate } from './template.ts'

/** The names that a template can use. */
export interface Names {
  /** The relation of the model itself, which `{{ this }}` prints. */
  readonly self: string
  readonly models: ReadonlyMap<string, string>
  readonly sources: ReadonlyMap<string, readonly string[]>
  /** Returns the text that `{{ source(…) }}` prints. */
  readonly sourceSql: (source: string, table: string) => string
  readonly vars: Readonly<Record<string, unknown>>
  /** The value of `target.type`. Default: duckdb. */
  readonly engine?: 'spark'
  /** The value of `is_incremental()`: the model's table exists and is updated. */
  readonly isIncremental?: boolean
}

export interface Rendered {
  readonly sql: string
  /** Names of models, each once, in the order of their first use. */
  readonly refs: readonly string[]
  /** The first line of each. */
  readonly refLines: ReadonlyMap<string, number>
  /** `source.table`, each once, in the order of their first use. */
  readonly sources: readonly string[]
  /** The arguments of `config(…)`, and the line of the call. */
  readonly config: Readonly<Record<string, unknown>>
  readonly configLine: number | undefined
}

/**
 * Renders a template, in which only `ref`, `source`, `config`, `var`,
 * `is_incremental`, `this`, `target`, the project's macros and names of `set` and `for`
 * are defined.
 *
 * @throws ProjectError with file and line.
 */
export function render({ file, evaluate }: ParsedTemplate, names: Names): Rendered {
  const calls = callsIn(file, names)
  try {
    const sql = evaluate(calls.globals).trimEnd()
    const { refLines, sources, config } = calls
    const configLine = calls.configLines[0]
    return { sql, refs: [...refLines.keys()], refLines, sources: [...sources], config, configLine }
  } catch (error) {
    if (error instanceof AppError) throw error
    const problem = `the template cannot be rendered: ${messageOf(error)}`
    throw new ProjectError({ file }, problem, { cause: error })
  }
}

/** The functions of templates, and what a template called them with. */
function callsIn(file: string, names: Names) {
  const refLines = new Map<string, number>()
  const sources = new Set<string>()
  const config: Record<string, unknown> = {}
  const configLines: number[] = []
  const globals = {
    true: true,
    false: false,
    none: null,
    True: true,
    False: false,
    None: null,
    this: names.self,
    target: { name: 'duckdb', schema: 'main', type: names.engine ?? 'duckdb' },
    is_incremental: () => names.isIncremental === true,

    ref: (line: number, ...args: unknown[]): string => {
      const place = { file, line }
      const [name = ''] = texts(args, 1, place, "ref('model')")
      const relation = known(place, 'model', name, names.models)
      if (!refLines.has(name)) refLines.set(name, line)
      return relation
    },

    source: (line: number, ...args: unknown[]): string => {
      const place = { file, line }
      const [source = '', table = ''] = texts(args, 2, place, "source('source', 'table')")
      const tables = known(place, 'source', source, names.sources)
      requireKnown(place, `table of source '${source}'`, table, tables)
      sources.add(`${source}.${table}`)
      return names.sourceSql(source, table)
    },

    config: (line: number, keywords: unknown, ...more: unknown[]): string => {
      if (!(keywords instanceof Map) || more.length > 0) {
        const hint = "Write config(materialized='table')."
        throw new ProjectError({ file, line }, 'config takes keyword arguments', { hint })
      }
      Object.assign(config, plain(keywords))
      configLines.push(line)
      return ''
    },

    var: (line: number, ...args: unknown[]): unknown => {
      const place = { file, line }
      const [name = ''] = texts(args.slice(0, 1), 1, place, "var('name', default)")
      if (Object.hasOwn(names.vars, name)) return names.vars[name]
      if (args.length === 2) return plain(args[1])
      throw unknownName(place, 'var', name, Object.keys(names.vars))
    },

    [PRINT]: (line: number, ...values: unknown[]): string | number | boolean => {
      const value = values.length > 1 ? values : values[0]
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
        return value
      }
      const what = value === undefined || value === null ? 'nothing' : 'a list or a map'
      throw new ProjectError({ file, line }, `this expression would print ${what}`, {
        hint: 'An attribute or a var may be misspelt; lists are printed with the join filter.',
      })
    },
  }
  return { globals, refLines, sources, config, configLines }
}

/** Exactly `count` strings. */
function texts(args: readonly unknown[], count: number, place: Place, usage: string): string[] {
  const given = args.filter((arg) => typeof arg === 'string')
  if (given.length === count && args.length === count) return given
  throw new ProjectError(place, `wrong arguments: expected ${usage}`)
}
