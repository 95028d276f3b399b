import { AppError, messageOf } from '../../lib/errors.ts'
import { ProjectError, type Place } from './errors.ts'
import { plain } from './tags.ts'
import { unknownName } from './errors.ts'
import { PRINT, type ParsedTemplate } from './template.ts'

/** The names that a template can use. */
export interface Names {
  /** The relation of the model itself, which `{{ this }}` prints. */
  readonly self: string
  /** The relation of every model, by its name. */
  readonly models: ReadonlyMap<string, string>
  /** The tables of every source. */
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
  const found = new Found(file, names)
  try {
    const sql = evaluate(found.globals()).trimEnd()
    const { refLines, sources, config, configLine } = found
    return { sql, refs: [...refLines.keys()], refLines, sources: [...sources], config, configLine }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new ProjectError({ file }, `the template cannot be rendered: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** dbt's `target` for the built-in runner. */
const TARGET = { name: 'duckdb', schema: 'main', type: 'duckdb' }

/** The functions of templates; it records their calls. */
class Found {
  readonly refLines = new Map<string, number>()
  readonly sources = new Set<string>()
  config: Record<string, unknown> = {}
  configLine: number | undefined

  readonly #file: string
  readonly #names: Names

  constructor(file: string, names: Names) {
    this.#file = file
    this.#names = names
  }

  globals(): Record<string, unknown> {
    return {
      true: true,
      false: false,
      none: null,
      True: true,
      False: false,
      None: null,
      this: this.#names.self,
      target: { ...TARGET, type: this.#names.engine ?? TARGET.type },
      ref: (line: number, ...args: unknown[]) => this.#ref(line, args),
      source: (line: number, ...args: unknown[]) => this.#source(line, args),
      config: (line: number, ...args: unknown[]) => this.#config(line, args),
      var: (line: number, ...args: unknown[]) => this.#var(line, args),
      is_incremental: () => this.#names.isIncremental === true,
      [PRINT]: (line: number, ...values: unknown[]) => this.#print(line, values),
    }
  }

  #ref(line: number, args: readonly unknown[]): string {
    const [name] = texts(args, 1, this.#at(line), "ref('model')")
    const relation = this.#names.models.get(name ?? '')
    if (name === undefined || relation === undefined) {
      throw unknownName(this.#at(line), 'model', name ?? '', this.#names.models.keys())
    }
    if (!this.refLines.has(name)) this.refLines.set(name, line)
    return relation
  }

  #source(line: number, args: readonly unknown[]): string {
    const [source, table] = texts(args, 2, this.#at(line), "source('source', 'table')")
    if (source === undefined || table === undefined) return ''
    const tables = this.#names.sources.get(source)
    if (tables === undefined) {
      throw unknownName(this.#at(line), 'source', source, this.#names.sources.keys())
    }
    if (!tables.includes(table)) {
      throw unknownName(this.#at(line), `table of source '${source}'`, table, tables)
    }
    this.sources.add(`${source}.${table}`)
    return this.#names.sourceSql(source, table)
  }

  #config(line: number, args: readonly unknown[]): string {
    const [keywords, ...more] = args
    if (!(keywords instanceof Map) || more.length > 0) {
      throw new ProjectError(this.#at(line), 'config takes keyword arguments', {
        hint: "Write config(materialized='table').",
      })
    }
    Object.assign(this.config, plain(keywords))
    this.configLine ??= line
    return ''
  }

  #var(line: number, args: readonly unknown[]): unknown {
    const [name] = texts(args.slice(0, 1), 1, this.#at(line), "var('name', default)")
    const { vars } = this.#names
    if (name !== undefined && Object.hasOwn(vars, name)) return vars[name]
    if (args.length === 2) return plain(args[1])
    throw unknownName(this.#at(line), 'var', name ?? '', Object.keys(vars))
  }

  #print(line: number, values: readonly unknown[]): string | number | boolean {
    const value = values.length > 1 ? values : values[0]
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return value
    }
    const what = value === undefined || value === null ? 'nothing' : 'a list or a map'
    throw new ProjectError(this.#at(line), `this expression would print ${what}`, {
      hint: 'An attribute or a var may be misspelt; lists are printed with the join filter.',
    })
  }

  #at(line: number): Place {
    return { file: this.#file, line }
  }
}

/** Exactly `count` strings. */
function texts(args: readonly unknown[], count: number, place: Place, usage: string): string[] {
  const given = args.filter((arg) => typeof arg === 'string')
  if (given.length === count && args.length === count) return given
  throw new ProjectError(place, `wrong arguments: expected ${usage}`)
}
