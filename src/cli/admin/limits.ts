import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { checkGlobalLimit, fieldOf, type WantedLimit } from '../../client/index.ts'
import { ExitCode, messageOf, UsageError } from '../../lib/errors.ts'
import { argument, defineCommand, flag, optionalArgument, text, type Terminal } from '../command.ts'
import { changeOptions, mayChange, requireConsent } from './change.ts'
import { emailOf, limitOf, limitsOfCsv } from './limits-csv.ts'
import { limitText, setLimits } from './limits-set.ts'
import { platformOptions, withPlatform } from './platform.ts'
import { itemJson, listAt, tableText, valueJson } from './render.ts'

/** Options of commands that set limits. */
const options = {
  ...platformOptions,
  ...changeOptions,
  force: flag('send also what is set already'),
}

export const listLimits = defineCommand({
  examples: [
    ['$0 limits list', 'the global limit, and the users with one of their own'],
    ['$0 limits list --json', 'as served'],
  ],
  options: platformOptions,
  run: (flags, terminal) =>
    withPlatform(flags, terminal, {}, async (platform) => {
      const { items } = await platform.client.limits.fetch()
      const limits = items.map((item) => platform.clean('usage_limits', item))
      return limits
        .map(({ text: served, value }) =>
          flags.json ? itemJson(served) : limitsText(value, terminal),
        )
        .join('')
    }),
})

export const setLimit = defineCommand({
  examples: [
    ['$0 limits set ada.abara@acme.example 5000000', 'one user, after a confirmation'],
    ['$0 limits set --csv limits.csv --dry-run', 'many: what would be sent'],
    ['$0 limits set --csv limits.csv --yes --json', 'from a script; 3 when some failed'],
  ],
  options: {
    ...options,
    csv: text('a file with the header email,limit, for many users'),
    email: optionalArgument('the user'),
    limit: optionalArgument('credits; none removes the user’s own'),
  },
  run: async (flags, terminal) => {
    const wanted = await wantedOf(flags, terminal.cwd)
    requireConsent(flags, terminal)
    return withPlatform(flags, terminal, {}, (platform) =>
      setLimits(platform, wanted, flags, terminal),
    )
  },
})

export const removeLimits = defineCommand({
  examples: [
    [
      '$0 limits remove grace.hopper@acme.example ines.johnson@acme.example',
      'the global one holds then',
    ],
  ],
  options: {
    ...options,
    emails: {
      ...argument('users who are to have no limit of their own any more'),
      array: true,
    },
  },
  run: async (flags, terminal) => {
    const emails = new Map(
      flags.emails.map((email) => [emailOf(email).toLowerCase(), email.trim()]),
    )
    requireConsent(flags, terminal)
    const wanted = [...emails.values()].map((email) => ({ email, limit: null }))
    return withPlatform(flags, terminal, {}, (platform) =>
      setLimits(platform, wanted, flags, terminal),
    )
  },
})

export const setGlobalLimit = defineCommand({
  examples: [
    ['$0 limits set-global 8000000', 'for every user without one of their own'],
    ['$0 limits set-global none --yes', 'no limit'],
  ],
  options: { ...options, limit: argument('credits, at least 1000000; none removes it') },
  run: async (flags, terminal) => {
    const limit = limitOf(flags.limit)
    checkGlobalLimit(limit)
    requireConsent(flags, terminal)
    return withPlatform(flags, terminal, {}, async (platform) => {
      const { globalLimit: before } = await platform.client.limits.get()
      const isDue = flags.force || before !== limit
      if (isDue) {
        const what = `the global limit: ${limitText(before)} → ${limitText(limit)}`
        const asks = [(client: typeof platform.client) => client.limits.setGlobal(limit)]
        if (!(await mayChange(platform, flags, terminal, { what, asks }))) return ExitCode.complete
        await platform.client.limits.setGlobal(limit)
      }
      const result = isDue ? (limit === null ? 'removed' : 'set') : 'unchanged'
      return flags.json
        ? valueJson({ before, limit, result })
        : `the global limit: ${limitText(before)} → ${limitText(limit)}, ${result}\n`
    })
  },
})

/** @throws UsageError for arguments or a file that do not say whom and how much. */
async function wantedOf(
  { email, limit, csv }: Partial<Record<'email' | 'limit' | 'csv', string | undefined>>,
  cwd: string,
): Promise<WantedLimit[]> {
  if (csv !== undefined && email === undefined) {
    return limitsOfCsv(await fileOf(resolve(cwd, csv)), csv)
  }
  if (csv !== undefined || email === undefined || limit === undefined) {
    throw new UsageError('name a user and a limit, or a file with --csv', {
      hint: 'For example: agent-warehouse limits set ada@acme.example 5000000',
    })
  }
  return [{ email: emailOf(email), limit: limitOf(limit) }]
}

async function fileOf(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new UsageError(`--csv: ${path} cannot be read: ${messageOf(cause)}`, { cause })
  }
}

function limitsText(limits: unknown, terminal: Terminal): string {
  const global = fieldOf(limits, 'globalLimit')
  const rows = listAt(limits, 'userLimits').map((each) => [
    fieldOf(each, 'email'),
    fieldOf(each, 'limit'),
  ])
  const first =
    typeof global === 'number'
      ? `Global limit: ${limitText(global)} credits for each user without one of their own`
      : 'There is no global limit'
  return `${first}\n\n${tableText(['user', { number: 'limit' }], rows, terminal)}`
}
