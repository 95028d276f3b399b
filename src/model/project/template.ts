import { AppError, messageOf } from '../../lib/errors.ts'
import { known, ProjectError, requireKnown, unknownName, type Place } from './errors.ts'
import {
  checkNames,
  FUNCTIONS,
  gather,
  isTag,
  parsed,
  plain,
  templateOf,
  type MacroScope,
  type Part,
  type PlacedToken,
  type Program,
  type Tag,
  type Template,
  type Token,
} from './tags.ts'

/** The function around every `{{ … }}`: it gets its place and the value, and returns the text to print. */
const PRINT = '__print'

export interface ParsedTemplate {
  readonly text: string
  readonly file: string
  readonly evaluate: Template
  /** The macros that the template and its hooks may call. */
  readonly macros: Macros
}

interface Macros {
  readonly names: readonly string[]
  readonly definitions: Program
}

const NO_MACROS: Macros = { names: [], definitions: parsed([]) }

/**
 * Reads files of macros, which may call each other.
 *
 * @throws ProjectError with the file, and the line of a tag or name that is not allowed, or of a
 *   second macro of one name.
 */
export function readMacros(
  files: readonly { readonly text: string; readonly file: string }[],
): Macros {
  const read = files.map(({ text, file }) => ({ file, parts: partsOf(text, file) }))
  const names = namesOf(read)
  const tokens = read.flatMap(({ file, parts }) =>
    checkedTokens(parts, file, { macros: names, definesMacros: true }),
  )
  return { names, definitions: parsed(tokens) }
}

function namesOf(files: readonly { readonly file: string; readonly parts: readonly Part[] }[]) {
  const found = new Map<string, string>()
  for (const { file, parts } of files) {
    for (const { tokens, line } of parts.filter(isTag)) {
      const [keyword, { value: name } = { value: '' }] = tokens
      if (keyword?.value !== 'macro') continue
      const twin = found.get(name)
      if (twin === undefined) found.set(name, file)
      else
        throw new ProjectError({ file, line }, `the macro '${name}' is already defined in ${twin}`)
    }
  }
  return [...found.keys()]
}

/**
 * Reads a template. The library prints nothing for an undefined name and reports no
 * lines, so every tag and name is checked first, and every call and printed value
 * gets its line and file as its first arguments.
 *
 * @throws ProjectError with the file, and the line of a tag or name that is not allowed.
 */
export function readTemplate(text: string, file: string, macros = NO_MACROS): ParsedTemplate {
  const own = checkedTokens(partsOf(text, file), file, { macros: macros.names })
  const program = attempt(file, () => parsed(own))
  return { text, file, macros, evaluate: templateOf(program, macros.definitions) }
}

function partsOf(text: string, file: string): Part[] {
  const generation = /\{%-?\s*(?:end)?generation\s*-?%\}/.exec(text)
  if (generation !== null) {
    // the library's lexer silently removes this tag of chat templates
    const line = text.slice(0, generation.index).split('\n').length
    throw new ProjectError({ file, line }, "unknown tag 'generation'")
  }
  return attempt(file, () => gather(text))
}

function checkedTokens(parts: readonly Part[], file: string, scope: MacroScope): Token[] {
  checkNames(parts.filter(isTag), file, scope)
  return parts.flatMap((part) => (isTag(part) ? armed(part, file) : [part]))
}

function attempt<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new ProjectError({ file }, `the template cannot be read: ${messageOf(error)}`, {
      hint: 'Check for a tag, a string or a bracket that is not closed.',
      cause: error,
    })
  }
}

/** The tokens of a tag with places as arguments, and as many line breaks as the tag has, so that later lines keep their numbers. */
function armed({ kind, line, lastLine, tokens: own }: Tag, file: string): Token[] {
  const tokens = own.flatMap((token, index) =>
    isCall(own, index) ? openCall(token.line, file) : [token],
  )
  const lines = lastLine === line ? [] : [make('Text', '\n'.repeat(lastLine - line))]
  if (kind === 'statement') {
    return [make('OpenStatement', '{%'), ...tokens, make('CloseStatement', '%}'), ...lines]
  }
  return [
    make('OpenExpression', '{{'),
    make('Identifier', PRINT),
    ...openCall(line, file),
    ...tokens,
    ...elseNothing(own),
    make('CloseParen', ')'),
    make('CloseExpression', '}}'),
    ...lines,
  ]
}

/** True for the parenthesis that opens a call of one of FUNCTIONS. */
function isCall(tokens: readonly PlacedToken[], index: number): boolean {
  const callee = tokens[index - 1]
  return (
    tokens[index]?.type === 'OpenParen' &&
    callee?.type === 'Identifier' &&
    FUNCTIONS.includes(callee.value) &&
    tokens[index - 2]?.type !== 'Dot'
  )
}

function openCall(line: number, file: string): Token[] {
  const comma = make('Comma', ',')
  const place = [make('NumericLiteral', String(line)), comma, make('StringLiteral', file), comma]
  return [make('OpenParen', '('), ...place]
}

/** Adds the missing `else ''` to `{{ ',' if not loop.last }}`, which may print nothing. */
function elseNothing(tokens: readonly PlacedToken[]): Token[] {
  let depth = 0
  let open = 0
  for (const token of tokens) {
    if (token.type.startsWith('Open')) depth++
    if (token.type.startsWith('Close')) depth--
    if (depth > 0 || token.type !== 'Identifier') continue
    if (token.value === 'if') open++
    if (token.value === 'else') open--
  }
  return open > 0 ? [make('Identifier', 'else'), make('StringLiteral', '')] : []
}

function make(type: string, value: string): Token {
  return { type, value }
}

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
  /** The first place of each, which may be in a macro. */
  readonly refPlaces: ReadonlyMap<string, Place>
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
  const { globals, refPlaces, sources, config, configLines } = callsIn(names)
  try {
    const sql = evaluate(globals).trimEnd()
    const refs = [...refPlaces.keys()]
    return { sql, refs, refPlaces, sources: [...sources], config, configLine: configLines[0] }
  } catch (error) {
    if (error instanceof AppError) throw error
    const problem = `the template cannot be rendered: ${messageOf(error)}`
    throw new ProjectError({ file }, problem, { cause: error })
  }
}

/** The functions of templates, and what a template called them with. */
function callsIn(names: Names) {
  const refPlaces = new Map<string, Place>()
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

    ref: (line: number, file: string, ...args: unknown[]): string => {
      const place = { file, line }
      const [name = ''] = texts(args, 1, place, "ref('model')")
      const relation = known(place, 'model', name, names.models)
      if (!refPlaces.has(name)) refPlaces.set(name, place)
      return relation
    },

    source: (line: number, file: string, ...args: unknown[]): string => {
      const place = { file, line }
      const [source = '', table = ''] = texts(args, 2, place, "source('source', 'table')")
      const tables = known(place, 'source', source, names.sources)
      requireKnown(place, `table of source '${source}'`, table, tables)
      sources.add(`${source}.${table}`)
      return names.sourceSql(source, table)
    },

    config: (line: number, file: string, keywords: unknown, ...more: unknown[]): string => {
      if (!(keywords instanceof Map) || more.length > 0) {
        const hint = "Write config(materialized='table')."
        throw new ProjectError({ file, line }, 'config takes keyword arguments', { hint })
      }
      Object.assign(config, plain(keywords))
      configLines.push(line)
      return ''
    },

    var: (line: number, file: string, ...args: unknown[]): unknown => {
      const place = { file, line }
      const [name = ''] = texts(args.slice(0, 1), 1, place, "var('name', default)")
      if (Object.hasOwn(names.vars, name)) return names.vars[name]
      if (args.length === 2) return plain(args[1])
      throw unknownName(place, 'var', name, Object.keys(names.vars))
    },

    [PRINT]: (line: number, file: string, ...values: unknown[]): string | number | boolean => {
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
  return { globals, refPlaces, sources, config, configLines }
}

/** Exactly `count` strings. */
function texts(args: readonly unknown[], count: number, place: Place, usage: string): string[] {
  const given = args.filter((arg) => typeof arg === 'string')
  if (given.length === count && args.length === count) return given
  throw new ProjectError(place, `wrong arguments: expected ${usage}`)
}
