import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  checkGlobalLimit,
  type ApiClient,
  type WantedLimit,
  type Credits,
} from '../../client/index.ts'
import { ExitCode, messageOf, UsageError, AppError } from '../../lib/errors.ts'
import { argument, flag, optionalArgument, text, type Group, type Terminal } from '../command.ts'
import { changeOptions, mayChange } from './change.ts'
import { creditsOf, limitText, otherLimit, presentLimits, setLimits } from './limits-set.ts'
import { platformCommand } from './platform.ts'
import { fieldsOf, listAt, tableText } from './render.ts'
import { readCsv, utf8Text } from '../../lib/csv.ts'
import { parseExactly } from '../../lib/json.ts'
import { counted, digits, oneLine } from '../../lib/text.ts'
import { firstLines } from '../../observe/words.ts'

const options = { ...changeOptions, force: flag('also send limits that are already set') }

const listLimits = platformCommand({
  examples: [
    ['$0 limits list', 'show the global limit, and the users who have their own'],
    ['$0 limits list --json', 'show them as JSON as served'],
  ],
  options: {},
  work: (_, terminal) => async (platform) => {
    const { items } = await platform.client.limits.fetch()
    const limits = platform.clean('usage_limits', items[0]?.text ?? '{}')
    return { json: limits.text, text: limitsText(parseExactly(limits.text), terminal) }
  },
})

const setLimit = platformCommand({
  examples: [
    [
      '$0 limits set ada.abara@acme.example 5000000',
      'set the limit of one user, after a confirmation',
    ],
    ['$0 limits set --csv limits.csv --dry-run', 'show what would be sent for many users'],
    [
      '$0 limits set --csv limits.csv --yes --json',
      'set many limits from a script; exits with 3 if some failed',
    ],
  ],
  options: {
    ...options,
    csv: text('CSV file with the header email,limit, for many users'),
    email: optionalArgument('the user'),
    limit: optionalArgument('number of credits; none removes the limit of the user'),
  },
  work: async (flags, terminal) => {
    const wanted = await wantedOf(flags, terminal.cwd)
    return (platform) => setLimits(platform, wanted, flags.force, terminal)
  },
})

const removeLimits = platformCommand({
  examples: [
    [
      '$0 limits remove grace.hopper@acme.example ines.johnson@acme.example',
      'remove the limits of two users; the global limit then applies',
    ],
  ],
  options: {
    ...options,
    emails: { ...argument('e-mail addresses of the users'), array: true },
  },
  work: (flags, terminal) => {
    const emails = flags.emails.map(emailOf)
    const distinct = new Map(emails.map((email) => [email.toLowerCase(), email]))
    const wanted = [...distinct.values()].map((email) => ({ email, limit: null }))
    return (platform) => setLimits(platform, wanted, flags.force, terminal)
  },
})

const setGlobalLimit = platformCommand({
  examples: [
    ['$0 limits set-global 8000000', 'set the limit of all users who have no limit of their own'],
    ['$0 limits set-global none --yes', 'remove the global limit'],
  ],
  options: {
    ...options,
    limit: argument('number of credits, at least 1000000; none removes the limit'),
  },
  work: (flags) => {
    const limit = limitOf(flags.limit)
    checkGlobalLimit(limit)
    return async (platform) => {
      const before = creditsOf(await presentLimits(platform), 'globalLimit')
      const change = `the global limit: ${limitText(before)} → ${limitText(limit)}`
      const isDue = flags.force || before !== limit
      if (isDue) {
        const ask = (client: ApiClient) => client.limits.sendGlobal(limit)
        if (!(await mayChange(platform, change, [ask]))) return ExitCode.complete
        const error = otherLimit(limit, parseExactly((await ask(platform.client)).text))
        if (error !== null) {
          const json = { before, limit, result: 'failed', error }
          return { json, text: `${change}, failed: ${error}\n`, exitCode: ExitCode.partial }
        }
      }
      const done = limit === null ? 'removed' : 'set'
      const result = isDue ? done : 'unchanged'
      return { json: { before, limit, result }, text: `${change}, ${result}\n` }
    }
  },
})

export const limits: Group = {
  entries: [
    ['list', 'show the global limit and the limits of users', listLimits],
    ['set [email] [limit]', 'set the limit of a user, or of many users from a file', setLimit],
    [
      'set-global <limit>',
      'set the limit of all users who have no limit of their own',
      setGlobalLimit,
    ],
    [
      'remove <emails..>',
      'remove the limits of users; the global limit then applies',
      removeLimits,
    ],
  ],
}

/** @throws UsageError for arguments or a file that do not say whom and how much. */
async function wantedOf(
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

function limitsText(limits: unknown, terminal: Terminal): string {
  const global = creditsOf(limits, 'globalLimit')
  const rows = listAt(limits, 'userLimits').map((each) => fieldsOf(each, 'email', 'limit'))
  const first =
    global === null
      ? 'There is no global limit'
      : `Global limit: ${limitText(global)} credits for each user who has no limit of their own`
  return `${first}\n\n${tableText(['user', 'limit'], rows, terminal)}`
}

const HEADER = ['email', 'limit']

/**
 * Reads limits from a CSV file: a header with `email` and `limit`, then one user per
 * line; the word `none` removes the user's own limit.
 *
 * @throws UsageError with each line that is broken or repeats a user, and what to do about it.
 */
function limitsOfCsv(bytes: Uint8Array, file: string): WantedLimit[] {
  const { header, columns, lines } = readCsv(utf8Text(bytes, file), file)
  if (columns.length !== HEADER.length || !HEADER.every((name) => columns.includes(name)))
    throw new UsageError(`${file}:1: the header is '${header.trim()}', not email,limit`, {
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
function emailOf(text: string): string {
  if (/^[^\s@,;]+@[^\s@,;]+$/.test(text.trim())) return text.trim()
  throw new UsageError(`'${text}' is not an e-mail address`, {
    hint: 'Write the address of one user, such as ada@acme.example.',
  })
}
