import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import { UsageError } from '../../lib/errors.ts'
import { isMissing } from '../../lib/files.ts'
import { readYamlText, YamlError, type YamlDocument } from '../../lib/yaml.ts'
import { known, ProjectError, type Place } from './errors.ts'

export interface YamlFile<T> {
  readonly value: T
  readonly placeOf: (...path: PropertyKey[]) => Place
}

/**
 * Reads a yml file of the project and validates it. `file` is relative to `folder`; descriptions may
 * call `doc` with the name of a block.
 *
 * @throws ProjectError with file and line for invalid YAML or another shape.
 */
export async function readYaml<S extends z.ZodType>(
  folder: string,
  file: string,
  shape: S,
  docs: readonly DocBlock[] = [],
): Promise<YamlFile<z.output<S>>> {
  const { value, lineOf } = document(await textOf(folder, file), file)
  const placeOf = (...path: PropertyKey[]): Place => ({ file, line: lineOf(path) ?? 1 })
  const result = shape.safeParse(withDocs(value ?? {}, docs, placeOf))
  if (!result.success) throw shapeError(result.error, placeOf)
  return { value: result.data, placeOf }
}

function document(text: string, file: string): YamlDocument {
  try {
    return readYamlText(text)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    const { message, line = 1 } = error
    throw new ProjectError({ file, line }, message, { cause: error })
  }
}

async function textOf(folder: string, file: string): Promise<string> {
  try {
    return await readFile(join(folder, file), 'utf8')
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new UsageError(`${join(folder, file)}: no such file`, {
      hint: `A model project is a folder with a ${file}.`,
      cause: error,
    })
  }
}

function shapeError(error: z.ZodError, placeOf: (...path: PropertyKey[]) => Place): Error {
  const [issue] = error.issues
  if (issue === undefined) return error
  const where = issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `
  if (issue.code !== 'unrecognized_keys') {
    return new ProjectError(placeOf(...issue.path), `${where}${issue.message}`)
  }
  const key = issue.keys[0] ?? ''
  return new ProjectError(placeOf(...issue.path, key), `${where}unknown key '${key}'`, {
    hint: 'Keys of your own belong under config.meta.',
  })
}

/** `{% docs name %}…{% enddocs %}`, a text that descriptions include with `{{ doc('name') }}`. */
export interface DocBlock {
  readonly name: string
  readonly file: string
  readonly text: string
}

const BLOCK = /\{%-?\s*docs\s+(\w+)\s*-?%\}(.*?)\{%-?\s*enddocs\s*-?%\}/gs
const CALL = /\{\{-?\s*doc\(\s*(?:'(\w+)'|"(\w+)")\s*\)\s*-?\}\}/g
const TAG = /\{[%{#]/

/**
 * The doc blocks of the project's `.md` files; other text is ignored.
 *
 * @throws ProjectError with the line of a block without an end or text, with a tag in it, or with
 * the name of another block.
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
  if (twin !== undefined) return `the doc block '${name}' is already defined in ${twin.file}`
  if (body.trim() === '') return `doc block '${name}' must not be empty`
  return TAG.test(body) ? `doc block '${name}' must not contain a tag` : undefined
}

/**
 * Replaces every `{{ doc('name') }}` in the descriptions of a yml file by the text of the block.
 *
 * @throws ProjectError for an unknown block, and for any other tag in a description.
 */
function withDocs(
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
  if (typeof value !== 'string' || path.at(-1) !== 'description' || !TAG.test(value)) return value
  return described(value, blocks, placeOf(...path))
}

function described(text: string, blocks: readonly DocBlock[], place: Place): string {
  if (TAG.test(text.replaceAll(CALL, ''))) {
    const problem = "a description must not contain a tag other than {{ doc('name') }}"
    throw new ProjectError(place, problem)
  }
  const texts = new Map(blocks.map((block) => [block.name, block.text]))
  return text.replaceAll(CALL, (_, single: string | undefined, double: string | undefined) => {
    const name = single ?? double ?? ''
    return known(place, 'doc block', name, texts)
  })
}
