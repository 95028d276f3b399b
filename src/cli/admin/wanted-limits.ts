import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Credits, WantedLimit } from '../../client/index.ts'
import { readCsv, utf8Text } from '../../lib/csv.ts'
import { AppError, messageOf, UsageError } from '../../lib/errors.ts'
import { counted, cut, digits, oneLine } from '../../lib/text.ts'
import { firstLines } from '../../observe/words.ts'

/** @throws UsageError for arguments or a file that do not say whom and how much. */
export async function wantedOf(
  { email, limit, csv }: Partial<Record<'email' | 'limit' | 'csv', string | undefined>>,
  cwd: string,
): Promise<WantedLimit[]> {
  if (csv !== undefined && email === undefined) {
    const path = resolve(cwd, csv)
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw new UsageError(`--csv: ${path} cannot be read: ${messageOf(cause)}`, {
        hint: 'Name a CSV file with the first line email,limit.',
        cause,
      })
    })
    return limitsOfCsv(bytes, csv)
  }
  if (csv !== undefined || email === undefined || limit === undefined) {
    throw new UsageError('give a user and a limit, or a file with --csv', {
      hint: 'For example: agent-warehouse limits set ada@acme.example 5000000',
    })
  }
  return [{ email: emailOf(email), limit: limitOf(limit) }]
}

/**
 * Reads limits from a CSV file: a header with `email` and `limit`, then one user per
 * line; the word `none` removes the user's own limit.
 *
 * @throws UsageError with each line that is broken or repeats a user, and what to do about it.
 */
function limitsOfCsv(bytes: Uint8Array, file: string): WantedLimit[] {
  const { header, columns, lines } = readCsv(utf8Text(bytes, file), file)
  if (columns.length !== 2 || columns.toSorted().join(',') !== 'email,limit')
    throw new UsageError(`${file}:1: the header is '${cut(header.trim(), 80)}', not email,limit`, {
      hint: 'Write email,limit as the first line.',
    })
  const limits = new Map<string, { readonly line: number; readonly wanted: WantedLimit }>()
  const broken: AppError[] = []
  for (const { number: line, fields } of lines) {
    try {
      const { email = '', limit = '' } = fields()
      const wanted = { email: emailOf(email), limit: limitOf(limit) }
      const user = wanted.email.toLowerCase()
      const first = limits.get(user)?.line
      if (first !== undefined) {
        throw new UsageError(`${wanted.email} is already in line ${first}`, {
          hint: 'Remove one of the two lines.',
        })
      }
      limits.set(user, { line, wanted })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      broken.push(new UsageError(`${file}:${line}: ${error.message}`, { hint: error.hint }))
    }
  }
  if (broken.length > 0) throw brokenLines(broken, file)
  if (limits.size === 0) {
    throw new UsageError(`${file}:2: the file contains no user`, {
      hint: 'Write one user per line below the first line: ada@acme.example,5000000.',
    })
  }
  return [...limits.values()].map(({ wanted }) => wanted)
}

const BROKEN_SHOWN = 20

function brokenLines(broken: readonly AppError[], file: string): UsageError {
  const [only, ...others] = broken
  if (only !== undefined && others.length === 0) {
    return new UsageError(only.message, { hint: ['Nothing was sent.', only.hint].join(' ').trim() })
  }
  const lines = broken.map(({ message, hint = '' }) => oneLine(`${message}. ${hint}`))
  const shown = firstLines(lines, BROKEN_SHOWN, (more) => `and ${counted(more, 'line')} more`)
  return new UsageError(`${file}: ${digits(broken.length)} lines are wrong, and nothing was sent`, {
    hint: shown.join('\n  '),
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
  if (!/^\d+$/.test(digits)) {
    throw new UsageError(`the limit: '${text}' is not a whole number`, {
      hint: 'Write the credits in digits only, such as 5000000, or the word none to remove the limit.',
    })
  }
  const limit = Number(digits)
  return Number.isSafeInteger(limit) ? limit : BigInt(digits)
}

/** @throws UsageError for an invalid e-mail address. */
export function emailOf(text: string): string {
  if (/^[^\s@,;]+@[^\s@,;]+$/.test(text.trim())) return text.trim()
  throw new UsageError(`'${text}' is not an e-mail address`, {
    hint: 'Write the address of one user, such as ada@acme.example.',
  })
}
