import type { Credits, WantedLimit } from '../../client/index.ts'
import { readCsv, utf8Text } from '../../lib/csv.ts'
import { AppError, UsageError } from '../../lib/errors.ts'
import { counted } from '../../observe/words.ts'

const HEADER = ['email', 'limit']

/**
 * Reads limits from a CSV file: a header with `email` and `limit`, then one user per
 * line; the word `none` removes the user's own limit.
 *
 * @throws UsageError at the first line that is broken or repeats a user.
 */
export function limitsOfCsv(bytes: Uint8Array, file: string): WantedLimit[] {
  const { header, columns, lines } = readCsv(utf8Text(bytes, file), file)
  if (columns.length !== HEADER.length || !HEADER.every((name) => columns.includes(name)))
    throw new UsageError(`${file}:1: the header is '${header.trim()}', not email,limit`)
  const limits = new Map<string, { readonly line: number; readonly wanted: WantedLimit }>()
  const broken: string[] = []
  for (const { number: line, fields } of lines) {
    try {
      const { email = '', limit = '' } = fields()
      const wanted = { email: emailOf(email), limit: limitOf(limit) }
      const user = wanted.email.toLowerCase()
      const first = limits.get(user)?.line
      if (first !== undefined) throw new UsageError(`${wanted.email} is already in line ${first}`)
      limits.set(user, { line, wanted })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      broken.push(`${file}:${line}: ${error.message}`)
    }
  }
  if (broken.length > 0) throw brokenLines(broken)
  if (limits.size === 0) throw new UsageError(`${file}:2: the file contains no user`)
  return [...limits.values()].map(({ wanted }) => wanted)
}

function brokenLines([first = '', ...others]: readonly string[]): UsageError {
  const more = others.length === 0 ? '' : ` (and ${counted(others.length, 'broken line')} after it)`
  return new UsageError(`${first}${more}`, {
    hint: 'Nothing was sent. Each line has an e-mail address and a limit in credits, or the word none.',
  })
}

/**
 * Reads a limit in credits. Only the word `none` removes a limit: a value that a script
 * left empty must not. @throws UsageError
 */
export function limitOf(text: string): Credits {
  const digits = text.trim()
  if (digits === 'none') return null
  if (digits === '') {
    throw new UsageError('the limit is empty', { hint: 'To remove a limit, write the word none.' })
  }
  if (!/^[+-]?\d+$/.test(digits)) {
    throw new UsageError(`the limit: '${text}' is not a whole number`)
  }
  const limit = Number(digits)
  return Number.isSafeInteger(limit) ? limit : BigInt(digits.replace('+', ''))
}

/** @throws UsageError for an invalid e-mail address. */
export function emailOf(text: string): string {
  if (/^[^\s@,;]+@[^\s@,;]+$/.test(text.trim())) return text.trim()
  throw new UsageError(`'${text}' is not an e-mail address`)
}
