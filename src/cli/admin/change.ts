import type { PlatformClient } from '../../client/index.ts'
import { AppError, UsageError } from '../../lib/errors.ts'
import type { HttpRequest, World } from '../../lib/world.ts'
import { visible } from '../../serve/display.ts'
import { flag, type Flags, type jsonOption, type Terminal } from '../command.ts'
import type { Platform } from './platform.ts'
import { valueJson } from './render.ts'

/** Options of commands that change something on the platform. */
export const changeOptions = {
  yes: { ...flag('change it without asking, for scripts'), alias: 'y' },
  'dry-run': flag('say what would be sent, and send nothing that changes anything'),
}

export type ChangeFlags = Flags<typeof changeOptions & typeof jsonOption>

/** One request that changes something. */
export type Ask = (client: PlatformClient) => Promise<unknown>

export interface Change {
  /** What is about to be changed, for the person who is asked. */
  readonly what: string
  /** What would be sent. */
  readonly asks: readonly Ask[]
}

/** @throws UsageError where there is no terminal to ask on, and no flag that makes it needless. */
export function requireConsent({ yes, dryRun }: ChangeFlags, { ask }: Terminal): void {
  if (yes || dryRun || ask !== null) return
  throw new UsageError('this changes things, and there is no terminal to ask for a confirmation', {
    hint: 'Give --yes to do it without being asked, or --dry-run to see what it would do.',
  })
}

/**
 * True when it is to be done. A dry run prints what would be sent, exactly, and is false.
 *
 * @throws UsageError when the person says anything but yes.
 */
export async function mayChange(
  platform: Platform,
  flags: ChangeFlags,
  terminal: Terminal,
  { what, asks }: Change,
): Promise<boolean> {
  if (flags.dryRun) {
    const requests = await requestsOf(platform, asks)
    terminal.out(
      flags.json ? valueJson({ dry_run: true, requests }) : requests.map(requestText).join(''),
    )
    return false
  }
  if (flags.yes) return true
  requireConsent(flags, terminal)
  const answer = await terminal.ask?.(`${visible(what)}. Go on? [y/N] `, platform.world.signal)
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return true
  throw new UsageError('not confirmed: nothing was changed')
}

/** A request that would have been sent. */
interface Planned {
  readonly method: string
  readonly url: string
  readonly body: unknown
}

/** Thrown in place of sending. */
class NotSent extends AppError {}

/**
 * The requests themselves, held back at the last moment: what is said is what would
 * be sent, but for secrets.
 */
async function requestsOf(platform: Platform, asks: readonly Ask[]): Promise<Planned[]> {
  const requests: Planned[] = []
  const world: World = {
    ...platform.world,
    fetch: ({ method, url, body }: HttpRequest) => {
      const sent = body === undefined ? null : platform.clean('sessions', { text: body }).value
      requests.push({ method, url, body: sent })
      return Promise.reject(new NotSent('a dry run sends nothing'))
    },
  }
  const client = platform.clientIn(world)
  for (const ask of asks) {
    await ask(client).catch((error: unknown) => {
      if (!(error instanceof NotSent)) throw error
    })
  }
  return requests
}

function requestText({ method, url, body }: Planned): string {
  const sent = body === null ? '' : `\n  ${visible(JSON.stringify(body))}`
  return `would send: ${method} ${visible(url)}${sent}\n`
}
