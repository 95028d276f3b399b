import type { Credits } from '../../client/index.ts'
import { UsageError } from '../../lib/errors.ts'

/** A whole number as it is written on the command line or in a file. @throws UsageError */
export function wholeNumber(text: string, what: string, least: number): number {
  const number = Number(text.trim())
  if (/^\d+$/.test(text.trim()) && Number.isSafeInteger(number) && number >= least) return number
  throw new UsageError(`${what}: '${text}' is not a whole number of at least ${least}`)
}

/**
 * Credits; the word `none`, and nothing else, is no limit: what a script leaves
 * empty must not remove one. @throws UsageError
 */
export function limitOf(text: string): Credits {
  if (text.trim() === 'none') return null
  if (text.trim() === '') {
    throw new UsageError('the limit is empty', { hint: 'The word none removes a limit.' })
  }
  if (!/^[+-]?\d+$/.test(text.trim())) {
    throw new UsageError(`the limit: '${text}' is not a whole number`)
  }
  const limit = Number(text)
  return Number.isSafeInteger(limit) ? limit : BigInt(text.trim().replace('+', ''))
}

/** @throws UsageError for what is no e-mail address. */
export function emailOf(text: string): string {
  if (/^[^\s@,;]+@[^\s@,;]+$/.test(text.trim())) return text.trim()
  throw new UsageError(`'${text}' is not an e-mail address`)
}
