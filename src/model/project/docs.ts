import { ProjectError, unknownName, type Place } from './errors.ts'

/** A text that descriptions take over with `{{ doc('name') }}`: `{% docs name %}…{% enddocs %}`. */
export interface DocBlock {
  readonly name: string
  readonly file: string
  readonly text: string
}

const BLOCK = /\{%-?\s*docs\s+(\w+)\s*-?%\}(.*?)\{%-?\s*enddocs\s*-?%\}/gs
const CALL = /\{\{-?\s*doc\(\s*(?:'(\w+)'|"(\w+)")\s*\)\s*-?\}\}/g
const TAG = /\{[%{#]/

/**
 * The blocks of the project's `.md` files; text around them is nobody's.
 *
 * @throws ProjectError with the line at a block that has no end, no text or another tag in it,
 * and at a name that is taken.
 */
export function readDocs(
  files: readonly { readonly file: string; readonly text: string }[],
): DocBlock[] {
  const blocks: DocBlock[] = []
  for (const { file, text } of files) {
    const placeAt = (index: number): Place => ({
      file,
      line: text.slice(0, index).split('\n').length,
    })
    for (const { 1: name = '', 2: body = '', index } of text.matchAll(BLOCK)) {
      const problem = problemOf(name, body, blocks)
      if (problem !== undefined) throw new ProjectError(placeAt(index), problem)
      blocks.push({ name, file, text: body.trim() })
    }
    const around = text.replaceAll(BLOCK, (block) => block.replaceAll(/[^\n]/g, ' '))
    const single = around.search(/\{%-?\s*(?:end)?docs\b/)
    if (single === -1) continue
    throw new ProjectError(placeAt(single), "a doc block is '{% docs name %}…{% enddocs %}'")
  }
  return blocks
}

function problemOf(name: string, body: string, others: readonly DocBlock[]): string | undefined {
  const twin = others.find((block) => block.name === name)
  if (twin !== undefined) return `there is another doc block '${name}': ${twin.file}`
  if (body.trim() === '') return `doc block '${name}' must say something`
  return TAG.test(body) ? `doc block '${name}' has a tag in it` : undefined
}

/**
 * A value of a yml file with the text of the block in place of every `{{ doc('name') }}` in a
 * `description`, at any depth.
 *
 * @throws ProjectError at an unknown block, and at any other tag in a description.
 */
export function withDocs(
  value: unknown,
  blocks: readonly DocBlock[],
  placeOf: (...path: PropertyKey[]) => Place,
  path: readonly PropertyKey[] = [],
): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => withDocs(item, blocks, placeOf, [...path, index]))
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        withDocs(item, blocks, placeOf, [...path, key]),
      ]),
    )
  }
  if (typeof value !== 'string' || path.at(-1) !== 'description') return value
  return described(value, blocks, placeOf(...path))
}

function described(text: string, blocks: readonly DocBlock[], place: Place): string {
  if (TAG.test(text.replaceAll(CALL, ''))) {
    throw new ProjectError(place, "a description has no tag but {{ doc('name') }}")
  }
  return text.replaceAll(CALL, (_, single: string | undefined, double: string | undefined) => {
    const name = single ?? double ?? ''
    const block = blocks.find((each) => each.name === name)
    if (block !== undefined) return block.text
    const known = blocks.map((each) => each.name)
    throw unknownName(place, 'doc block', name, known)
  })
}
