import type { Token } from './jinja.ts'

/** A token inside a tag and the line (from 1) it stands on. */
export interface PlacedToken extends Token {
  readonly line: number
}

/** `{% … %}` or `{{ … }}`; `tokens` is what stands between. */
export interface Tag {
  readonly kind: 'statement' | 'expression'
  readonly line: number
  /** The line it ends on. */
  readonly lastLine: number
  readonly tokens: readonly PlacedToken[]
}

/** The tokens of a template: text and comments as they are, those of a tag together. */
export type Part = Token | Tag

export function isTag(part: Part): part is Tag {
  return 'kind' in part
}

/** Gathers the tokens of each tag, and finds each again in `text`, because they carry no line. */
export function gather(text: string, tokens: readonly Token[]): Part[] {
  const parts: Part[] = []
  const cursor = new Cursor(text)
  let tag: (Omit<Tag, 'lastLine' | 'tokens'> & { tokens: PlacedToken[] }) | undefined
  for (const token of tokens) {
    switch (token.type) {
      case 'Text':
        parts.push(token)
        break
      case 'Comment':
        cursor.pass('{#')
        cursor.pass('#}')
        parts.push(token)
        break
      case 'OpenStatement':
      case 'OpenExpression':
        tag = {
          kind: token.type === 'OpenStatement' ? 'statement' : 'expression',
          line: cursor.pass(token.value),
          tokens: [],
        }
        break
      case 'CloseStatement':
      case 'CloseExpression':
        if (tag !== undefined) parts.push({ ...tag, lastLine: cursor.pass(token.value) })
        tag = undefined
        break
      default: {
        const line = token.type === 'StringLiteral' ? cursor.passString() : cursor.pass(token.value)
        tag?.tokens.push({ type: token.type, value: token.value, line })
      }
    }
  }
  return parts
}

/** Walks a text forward, counting lines. */
class Cursor {
  readonly #text: string
  #index = 0
  #line = 1

  constructor(text: string) {
    this.#text = text
  }

  /** Moves behind the next `value` and returns the line it stands on. */
  pass(value: string): number {
    return this.#pass(this.#text.indexOf(value, this.#index), value.length)
  }

  /** Moves behind the next quoted string; its token carries the unescaped value. */
  passString(): number {
    const quoted = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/gs
    quoted.lastIndex = this.#index
    const found = quoted.exec(this.#text)
    return this.#pass(found?.index ?? this.#index, found?.[0].length ?? 0)
  }

  #pass(start: number, length: number): number {
    this.#moveTo(start)
    const line = this.#line
    this.#moveTo(start + length)
    return line
  }

  #moveTo(index: number): void {
    for (; this.#index < index; this.#index++) {
      if (this.#text[this.#index] === '\n') this.#line++
    }
  }
}
