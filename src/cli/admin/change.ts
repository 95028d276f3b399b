import type { ApiClient } from '../../client/index.ts'
import { AppError, UsageError } from '../../lib/errors.ts'
import type { World } from '../../lib/world.ts'
import { visible } from '../../serve/format.ts'
import { flag, type Answer, type Flags, type Terminal } from '../command.ts'
import type { Clean } from './render.ts'

/** Options of commands that change something on the platform. */
export const changeOptions = {
  yes: { ...flag('do not ask for confirmation'), alias: 'y' },
  'dry-run': flag('show what would be sent, and change nothing'),
}

export type ChangeFlags = Flags<typeof changeOptions>

/** One request that changes something. */
export type Ask = (client: ApiClient) => Promise<unknown>

/** @throws UsageError if there is no terminal to ask on, and no --yes or --dry-run. */
export function requireConsent(flags: Partial<ChangeFlags>, { ask }: Terminal): void {
  if (flags.yes === true || flags.dryRun === true || ask !== null) return
  const problem = 'there is no terminal to ask for confirmation'
  throw new UsageError(`this command changes data on the platform, and ${problem}`, {
    hint: 'Use --yes to skip the question, or --dry-run to see what would be sent.',
  })
}

export interface Changing {
  readonly world: World
  /** Another client of the same organisation, in another world. */
  readonly clientIn: (world: World) => ApiClient
  readonly flags: Partial<ChangeFlags>
  readonly terminal: Terminal
  /** An item that was served (JSON text), without its secrets. */
  readonly clean: (resource: string, item: string) => Clean
  /** Prints an answer before the command has ended. */
  readonly print: (answer: Answer) => void
}

/**
 * Asks the user to confirm `what` the requests change; true if they are to be sent. A dry run
 * prints exactly what would be sent; then it is false.
 *
 * @throws UsageError if the user does not answer yes.
 */
export async function mayChange(
  changing: Changing,
  what: string,
  asks: readonly Ask[],
): Promise<boolean> {
  const { flags, terminal, world, print } = changing
  if (flags.dryRun === true) {
    const requests = await requestsOf(changing, asks)
    const listed = requests.map(requestJson).join(',\n')
    const json = `{\n  "dry_run": true,\n  "requests": [\n${listed}\n  ]\n}`
    print({ json, text: requests.map(requestText).join('') })
    return false
  }
  if (flags.yes === true) return true
  requireConsent(flags, terminal)
  const answer = await terminal.ask?.(`${visible(what)}. Continue? [y/N] `, world.signal)
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return true
  throw new UsageError('not confirmed: nothing was changed')
}

interface Planned {
  readonly method: string
  readonly url: string
  /** JSON as sent: a reader could round its numbers. */
  readonly body: string | null
}

class NotSent extends AppError {}

/**
 * Makes the requests with a `fetch` that records them instead of sending, so that exactly what
 * would be sent can be printed, without secrets.
 */
async function requestsOf(
  { clean, clientIn, world }: Changing,
  asks: readonly Ask[],
): Promise<Planned[]> {
  const requests: Planned[] = []
  const fetch: World['fetch'] = ({ method, url, body }) => {
    const sent = body === undefined ? null : clean('sessions', body).text
    requests.push({ method, url, body: sent })
    return Promise.reject(new NotSent('a dry run sends nothing'))
  }
  const client = clientIn({ ...world, fetch })
  for (const ask of asks) {
    await ask(client).catch((error: unknown) => {
      if (!(error instanceof NotSent)) throw error
    })
  }
  return requests
}

function requestJson({ method, url, body }: Planned): string {
  return `    { "method": "${method}", "url": ${JSON.stringify(url)}, "body": ${body ?? 'null'} }`
}

function requestText({ method, url, body }: Planned): string {
  const sent = body === null ? '' : `\n  ${visible(body)}`
  return `would send: ${method} ${visible(url)}${sent}\n`
}
