import { ProjectError } from './errors.ts'
import { unknownName } from './errors.ts'
import type { PlacedToken, Tag } from './tags.ts'

/** The functions of templates; nothing else can be called by name. */
export const FUNCTIONS: readonly string[] = ['ref', 'source', 'config', 'var', 'is_incremental']

const STATEMENTS = ['set', 'endset', 'if', 'elif', 'else', 'endif', 'for', 'endfor']
const OPERATORS = ['in', 'not', 'and', 'or', 'is', 'if', 'else']
const LITERALS = ['true', 'false', 'none', 'True', 'False', 'None']
const WORDS = new Set([...OPERATORS, ...LITERALS])
const FILTERS = ['default', 'first', 'join', 'last', 'length', 'lower', 'replace', 'trim', 'upper']
const TESTS = ['even', 'none', 'number', 'odd', 'string']
const TARGET = ['name', 'schema', 'type']
const LOOP = [
  'index',
  'index0',
  'revindex',
  'revindex0',
  'first',
  'last',
  'length',
  'previtem',
  'nextitem',
]

interface Block {
  readonly kind: 'set' | 'if' | 'for' | 'macro'
  readonly line: number
  /** Names that the block brought; an `if` has none of its own. */
  readonly names: Set<string>
}

export interface MacroScope {
  /** The project's own macros, which can be called. */
  readonly macros?: readonly string[]
  /** True in a file of macros, where alone they can be defined. */
  readonly definesMacros?: boolean
}

/**
 * Holds every tag and name of a template against the allowed ones: a name is a
 * function, `this`, or one that `set` or `for` brought into scope before.
 *
 * @throws ProjectError with file and line.
 */
export function checkNames(
  tags: readonly Tag[],
  file: string,
  { macros = [], definesMacros = false }: MacroScope = {},
): void {
  const check = new NameCheck(file, macros, definesMacros)
  for (const tag of tags) {
    if (tag.kind === 'expression') check.use(tag.tokens)
    else check.statement(tag)
  }
  check.finish()
}

class NameCheck {
  readonly #file: string
  readonly #macros: readonly string[]
  readonly #statements: readonly string[]
  readonly #top = new Set(['this', 'target'])
  readonly #blocks: Block[] = []

  constructor(file: string, macros: readonly string[], definesMacros: boolean) {
    this.#file = file
    this.#macros = macros
    this.#statements = definesMacros ? [...STATEMENTS, 'macro', 'endmacro'] : STATEMENTS
  }

  statement(tag: Tag): void {
    const [keyword, ...rest] = tag.tokens
    const name = keyword?.value ?? ''
    if (!this.#statements.includes(name)) {
      throw unknownName(this.#at(tag), 'tag', name, this.#statements)
    }
    if (name === 'set') {
      this.#set(rest, tag.line)
    } else if (name === 'for') {
      this.#for(rest, tag.line)
    } else if (name === 'macro') {
      const parameters = rest.slice(1).filter(({ type }) => type === 'Identifier')
      this.#open('macro', tag.line, new Set(parameters.map(({ value }) => value)))
    } else if (name.startsWith('end')) {
      this.#need([name.slice('end'.length)], tag)
      this.#blocks.pop()
    } else {
      if (name === 'if') this.#open('if', tag.line)
      else this.#need(name === 'elif' ? ['if'] : ['if', 'for'], tag)
      this.use(rest)
    }
  }

  /** Looks at the names that an expression reads. */
  use(tokens: readonly PlacedToken[]): void {
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'Identifier') this.#useName(token, index, tokens)
    }
  }

  finish(): void {
    const open = this.#blocks.at(-1)
    if (open !== undefined) {
      throw new ProjectError(this.#at(open), `'${open.kind}' has no 'end${open.kind}'`)
    }
  }

  #useName(token: PlacedToken, index: number, tokens: readonly PlacedToken[]): void {
    const [before, previous, next] = [tokens[index - 2], tokens[index - 1], tokens[index + 1]]
    if (previous?.type === 'Dot') {
      this.#attribute(token, before)
    } else if (previous?.type === 'Pipe') {
      this.#among(FILTERS, 'filter', token)
    } else if (isTestName(token, previous, before)) {
      this.#among(TESTS, 'test', token)
    } else if (!WORDS.has(token.value) && next?.type !== 'Equals') {
      this.#freeName(token, next)
    }
  }

  #freeName(token: PlacedToken, next: PlacedToken | undefined): void {
    const functions = [...FUNCTIONS, ...this.#macros]
    if (!functions.includes(token.value)) {
      this.#among([...functions, ...this.#visible()], 'name', token)
    } else if (next?.type !== 'OpenParen') {
      throw new ProjectError(this.#at(token), `'${token.value}' is a function`, {
        hint: `Write ${token.value}(…).`,
      })
    }
  }

  #attribute(token: PlacedToken, owner: PlacedToken | undefined): void {
    if (isWord(owner, 'loop')) this.#among(LOOP, 'attribute of loop', token)
    if (isWord(owner, 'this')) this.#among([], 'attribute of this', token)
    if (isWord(owner, 'target')) this.#among(TARGET, 'attribute of target', token)
  }

  #among(known: readonly string[], what: string, token: PlacedToken): void {
    if (!known.includes(token.value)) throw unknownName(this.#at(token), what, token.value, known)
  }

  #set(tokens: readonly PlacedToken[], line: number): void {
    const equals = tokens.findIndex((token) => token.type === 'Equals')
    const names = equals === -1 ? tokens : tokens.slice(0, equals)
    if (equals !== -1) this.use(tokens.slice(equals + 1))
    const scope = this.#scope()
    for (const token of names) if (token.type === 'Identifier') this.#declare(token, scope)
    if (equals === -1) this.#open('set', line)
  }

  #for(tokens: readonly PlacedToken[], line: number): void {
    const within = tokens.findIndex((token) => isWord(token, 'in'))
    const names = new Set(['loop'])
    for (const token of tokens.slice(0, Math.max(within, 0))) {
      if (token.type === 'Identifier') this.#declare(token, names)
    }
    this.#open('for', line, names)
    this.use(tokens.slice(within + 1))
  }

  #declare(token: PlacedToken, scope: Set<string>): void {
    const taken = [...FUNCTIONS, ...this.#macros, 'this', 'target'].includes(token.value)
    if (taken) throw new ProjectError(this.#at(token), `'${token.value}' cannot be set`)
    scope.add(token.value)
  }

  #open(kind: Block['kind'], line: number, names = new Set<string>()): void {
    this.#blocks.push({ kind, line, names })
  }

  #need(kinds: readonly string[], tag: Tag): void {
    const kind = this.#blocks.at(-1)?.kind
    if (kind !== undefined && kinds.includes(kind)) return
    throw new ProjectError(
      this.#at(tag),
      `'${tag.tokens[0]?.value ?? ''}' without '${kinds[0] ?? ''}'`,
    )
  }

  /** Where `set` puts a name: only `for` and `macro` have a scope of their own. */
  #scope(): Set<string> {
    return (
      this.#blocks.findLast(({ kind }) => kind === 'for' || kind === 'macro')?.names ?? this.#top
    )
  }

  #visible(): string[] {
    return [this.#top, ...this.#blocks.map((block) => block.names)].flatMap((names) => [...names])
  }

  #at(spot: { readonly line: number }): { file: string; line: number } {
    return { file: this.#file, line: spot.line }
  }
}

function isWord(token: PlacedToken | undefined, word: string): boolean {
  return token?.type === 'Identifier' && token.value === word
}

/** The name behind `is` or `is not`. */
function isTestName(
  token: PlacedToken,
  previous: PlacedToken | undefined,
  before: PlacedToken | undefined,
): boolean {
  if (isWord(previous, 'not')) return isWord(before, 'is')
  return isWord(previous, 'is') && token.value !== 'not'
}
