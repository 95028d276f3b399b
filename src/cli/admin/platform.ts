import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import {
  PlatformClient,
  type ServedRow,
  ApiError,
  RefusedError,
  UnknownOutcomeError,
} from '../../client/index.ts'
import type { Config, OrganisationConfig } from '../../config/config.ts'
import { ExitCode, UsageError, AppError, DeferredError, messageOf } from '../../lib/errors.ts'
import type { RunEvent } from '../../lib/events.ts'
import type { World } from '../../lib/world.ts'
import { createRedact } from '../../observe/redact.ts'
import { oneLine } from '../../lib/text.ts'
import { addressing, duration } from '../../observe/words.ts'
import { readIfThere } from '../../lib/files.ts'
import { readLearned } from '../../lake/governor-state.ts'
import { openRedaction, Redaction } from '../../lib/secrets/redaction.ts'
import { configured, dataOptions, jsonOption, text, type Flags, type Terminal } from '../command.ts'
import { announce, createWorld } from '../world.ts'

/** Options of every command that speaks with the platform about one organisation. */
export const platformOptions = {
  ...dataOptions,
  ...jsonOption,
  'base-url': text("the platform's public API host (or AGENT_BASE_URL)"),
  organisation: text('which one of the configuration file, where it lists several'),
}

/** An item without its secrets: its text, else as served, and what it means. */
export interface Clean {
  readonly text: string
  readonly value: unknown
}

/** One organisation on the platform, as a command has it. */
export interface Platform {
  readonly client: PlatformClient
  /** Another client of the same organisation, in another world. */
  readonly clientIn: (world: World) => PlatformClient
  readonly world: World
  /** An item that was served, without its secrets. */
  readonly clean: (resource: string, item: Pick<ServedRow, 'text'>) => Clean
  /** Text of the platform, without its secrets. */
  readonly hide: (text: string) => string
  /** Says on standard error how it goes. */
  readonly tell: (text: string) => void
}

export interface Conversation {
  /** The next step after an answer of an error status. */
  readonly advice?: Advice
  /** Milliseconds it may take, waits for a rate limit included. */
  readonly patienceMs?: number
}

/** A user who asked for an answer waits no longer than this. */
const PATIENCE_MS = 10 * 60_000

/** A wait that is worth telling of. */
const NOTABLE_MS = 1_000

/**
 * Speaks with the platform for one command, and prints the text that it comes to:
 * nothing in the data folder is written, and what the platform's errors say is shown
 * without secrets.
 *
 * @throws UsageError for a configuration that does not say which organisation, and
 *   for answers that say that the request was wrong (400, 404, 409, 422).
 */
export async function withPlatform(
  flags: Flags<typeof platformOptions>,
  terminal: Terminal,
  { advice = {}, patienceMs = PATIENCE_MS }: Conversation,
  work: (platform: Platform) => Promise<string | ExitCode>,
): Promise<ExitCode> {
  const config = configured(flags, terminal)
  const organisation = chosen(config, flags.organisation)
  const redaction = await redactionOf(config)
  const redact = createRedact([organisation.key])
  const hide = (text: string): string => redaction.text(redact(text))
  const tell = (text: string): void => {
    terminal.err(`${oneLine(redact(text))}\n`)
  }
  const emit = (event: RunEvent): void => {
    narrate(event, tell)
  }
  const { world, close } = createWorld(emit, terminal.environment)
  if (organisation.isFromFile || organisation.keyWarning !== null) announce(organisation, emit)
  try {
    const learned = await readLearned(config.dataFolder, organisation.name)
    const options = {
      ...clientOptions(config, organisation, world.now() + patienceMs),
      ...(learned === undefined ? {} : { learned }),
    }
    const clientIn = (another: World): PlatformClient => new PlatformClient(options, another)
    const clean: Platform['clean'] = (resource, item) => {
      const cleaned = redaction.item(resource, item.text)
      return { text: cleaned, value: JSON.parse(cleaned) }
    }
    const result = await work({ client: clientIn(world), clientIn, world, clean, hide, tell })
    if (typeof result !== 'string') return result
    terminal.out(result)
    return ExitCode.complete
  } catch (error) {
    throw explained(error, advice, redact)
  } finally {
    await close()
  }
}

function clientOptions(
  { rate, concurrency }: Config,
  { baseUrl, appUrl, key }: OrganisationConfig,
  deadline: number,
) {
  const options = { baseUrl, credential: key, rate, concurrency, deadline }
  return appUrl === null ? options : { ...options, appUrl }
}

function chosen(config: Config, name: string | undefined): OrganisationConfig {
  const names = config.organisationNames
  if (name === undefined && names.length > 1) {
    throw new UsageError(`${names.length} organisations are configured: ${names.join(', ')}`, {
      hint: `Name one: --organisation ${names[0] ?? ''}`,
    })
  }
  const [organisation] = config.organisations(name)
  if (organisation === undefined) throw new UsageError('no organisation is configured')
  return organisation
}

/** A data folder that has no key yet is left as it is: marks then hold for one command. */
async function redactionOf({ dataFolder, redactionKey }: Config): Promise<Redaction> {
  if (redactionKey !== null) return new Redaction(redactionKey)
  const hasKey = (await readIfThere(join(dataFolder, 'state', 'redaction.key'))) !== undefined
  return hasKey ? openRedaction(dataFolder) : new Redaction(randomBytes(32).toString('hex'))
}

function narrate(event: RunEvent, tell: (text: string) => void): void {
  if (event.type === 'warning') tell(event.message)
  if (event.type === 'organisation.addressed') tell(addressing(event))
  const isPause = event.type === 'governor.paused' || event.type === 'request.retried'
  if (isPause && event.waitMs >= NOTABLE_MS) {
    tell(`${event.reason}: asked again in ${duration(event.waitMs)}`)
  }
}

/** The next step after an answer with an error status. */
export type Advice = Readonly<Record<number, string>>

/** Statuses that say that what was asked for is wrong, or cannot be done as things are. */
const WRONG: ReadonlySet<number> = new Set([400, 404, 409, 422])

/** A failure as a person is told it: the platform's words without secrets, and what to do next. */
export class ToldError extends AppError {
  override readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, hint: string | undefined) {
    super(message, hint === undefined ? {} : { hint })
    this.exitCode = exitCode
  }
}

/** Time ran out before what was waited for came about. */
export class NotYetError extends AppError {
  override readonly exitCode = ExitCode.deferred
}

/** Work of several requests, ended by the failure of one of them. */
export class HalfDoneError extends AppError {
  /** The failure. */
  readonly failure: unknown

  constructor(done: string, hint: string, failure: unknown) {
    super(done, { hint })
    this.failure = failure
  }
}

/** What to report of an error, without the credential; an unexpected one stays as it is. */
export function explained(
  error: unknown,
  advice: Advice,
  redact: (text: string) => string,
): unknown {
  if (error instanceof HalfDoneError) {
    const failure = explained(error.failure, advice, redact)
    const exitCode = failure instanceof AppError ? failure.exitCode : ExitCode.unexpected
    return new ToldError(`${messageOf(failure)}; ${error.message}`, exitCode, error.hint)
  }
  if (error instanceof ApiError || error instanceof RefusedError) {
    const exitCode = WRONG.has(error.status) ? ExitCode.usage : error.exitCode
    return new ToldError(redact(error.message), exitCode, advice[error.status] ?? error.hint)
  }
  if (error instanceof DeferredError) {
    return new ToldError(redact(error.message), error.exitCode, 'Ask again later.')
  }
  if (error instanceof UnknownOutcomeError) {
    return new ToldError(redact(error.message), error.exitCode, error.hint)
  }
  return error
}
