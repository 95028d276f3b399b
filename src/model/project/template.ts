import { messageOf } from '../../lib/errors.ts'
import { ProjectError } from './errors.ts'
import {
  parsed,
  templateOf,
  type Program,
  type Template,
  type Token,
  gather,
  isTag,
  type Part,
  type PlacedToken,
  type Tag,
  checkNames,
  FUNCTIONS,
  type MacroScope,
} from './tags.ts'

/** The function around every `{{ … }}`: it gets the line and the value, and returns the text to print. */
export const PRINT = '__print'

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
 * @throws ProjectError with the file, and the line of a tag or name that is not allowed.
 */
export function readMacros(
  files: readonly { readonly text: string; readonly file: string }[],
): Macros {
  const read = files.map(({ text, file }) => ({ file, parts: partsOf(text, file) }))
  const names = read.flatMap(({ parts }) => parts.filter(isTag).flatMap(macroName))
  const tokens = read.flatMap(({ file, parts }) =>
    checkedTokens(parts, file, { macros: names, definesMacros: true }),
  )
  return { names, definitions: parsed(tokens) }
}

function macroName({ tokens: [keyword, name] }: Tag): string[] {
  return keyword?.value === 'macro' && name !== undefined ? [name.value] : []
}

/**
 * Reads a template. The library prints nothing for an undefined name and reports no
 * lines, so every tag and name is checked first, and every call and printed value
 * gets its line as its first argument.
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
  return parts.flatMap((part) => (isTag(part) ? armed(part) : [part]))
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

/** The tokens of a tag with line arguments, and as many line breaks as the tag has, so that later lines keep their numbers. */
function armed({ kind, line, lastLine, tokens: own }: Tag): Token[] {
  const tokens = own.flatMap((token, index) =>
    isCall(own, index) ? openCall(token.line) : [token],
  )
  const lines = lastLine === line ? [] : [make('Text', '\n'.repeat(lastLine - line))]
  if (kind === 'statement') {
    return [make('OpenStatement', '{%'), ...tokens, make('CloseStatement', '%}'), ...lines]
  }
  return [
    make('OpenExpression', '{{'),
    make('Identifier', PRINT),
    ...openCall(line),
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

function openCall(line: number): Token[] {
  return [make('OpenParen', '('), make('NumericLiteral', String(line)), make('Comma', ',')]
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
