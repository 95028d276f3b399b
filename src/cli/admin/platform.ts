import { randomBytes } from 'node:crypto'
import { ApiError, ApiClient, RefusedError, TransportError } from '../../client/index.ts'
import type { Config, OrganisationConfig } from '../../config/config.ts'
import { learnedLimits } from '../../lake/state-file.ts'
import { AppError, DeferredError, ExitCode, messageOf, UsageError } from '../../lib/errors.ts'
import type { RunEvent } from '../../lib/events.ts'
import { hasRedactionKey, openRedaction, Redaction } from '../../lib/secrets/redaction.ts'
import { oneLine, shellWord, someOf } from '../../lib/text.ts'
import type { HttpRequest, World } from '../../lib/world.ts'
import { createRedact } from '../../observe/log.ts'
import { addressing, duration } from '../../observe/words.ts'
import { visible } from '../../serve/format.ts'
import {
  configured,
  dataOptions,
  flag,
  jsonOption,
  printed,
  text,
  type Output,
  type Command,
  type Examples,
  type Flags,
  type OptionSet,
  type Terminal,
} from '../command.ts'
import { announce, createWorld } from '../world.ts'
import type { Clean } from './render.ts'

const platformOptions = {
  ...dataOptions,
  ...jsonOption,
  'base-url': text("the platform's API host (default: AGENT_BASE_URL)"),
  organisation: text('name of the organisation, if the configuration file lists several'),
}

/** Options of commands that change something on the platform. */
export const changeOptions = {
  yes: { ...flag('do not ask for confirmation'), alias: 'y' },
  'dry-run': flag('show what would be sent, and change nothing'),
}

type PlatformFlags = Flags<typeof platformOptions> & Partial<Flags<typeof changeOptions>>

/** Access to one organisation on the platform. */
export interface Platform {
  readonly world: World
  readonly client: ApiClient
  /** Another client of the same organisation, in another world. */
  readonly clientIn: (world: World) => ApiClient
  readonly flags: PlatformFlags
  readonly terminal: Terminal
  /** The web application host, if it is configured. */
  readonly appUrl: string | null
  /** An item that was served (JSON text), without its secrets. */
  readonly clean: (resource: string, item: string) => Clean
  /** Removes secrets from text of the platform. */
  readonly hide: (text: string) => string
  /** Reports progress on standard error. */
  readonly report: (text: string) => void
  /** Prints output before the command has ended. */
  readonly print: (output: Output) => void
}

/** One request that changes something. */
export type Ask = (client: ApiClient) => Promise<unknown>

/** Hints by the error status of the response. */
export type Advice = Readonly<Record<number, string>>

type Work = (platform: Platform) => Promise<Output | ExitCode>

interface PlatformCommand<O extends OptionSet> {
  readonly examples: Examples
  /** Its own options. Those of a command that changes something include changeOptions. */
  readonly options: O
  readonly advice?: Advice
  /** The time limit in milliseconds, including waits for a rate limit. */
  readonly patienceOf?: (flags: Flags<O>) => number
  /** Checks the arguments before any request, and returns the work. */
  readonly work: (flags: PlatformFlags & Flags<O>, terminal: Terminal) => Work | Promise<Work>
}

/** The longest wait for a response at a terminal. */
const PATIENCE_MS = 10 * 60_000

const NOTABLE_MS = 1_000

/**
 * A command that makes requests for one organisation. It writes nothing in the data
 * folder, and shows the platform's errors without secrets.
 */
export function platformCommand<O extends OptionSet>(command: PlatformCommand<O>): Command {
  const { examples, options, advice = {}, patienceOf } = command
  return {
    examples,
    options: { ...platformOptions, ...options },
    run: async (flags: PlatformFlags & Flags<O>, terminal: Terminal) => {
      const work = await command.work(flags, terminal)
      const patienceMs = patienceOf?.(flags) ?? PATIENCE_MS
      if ('dry-run' in options) requireConsent(flags, terminal)
      return withPlatform(flags, terminal, { advice, patienceMs }, work)
    },
  }
}

/**
 * @throws UsageError if it is unclear which organisation is meant, and
 *   for responses that reject the request (400, 404, 409, 422).
 */
async function withPlatform(
  flags: PlatformFlags,
  terminal: Terminal,
  { advice, patienceMs }: { readonly advice: Advice; readonly patienceMs: number },
  work: Work,
): Promise<Output | ExitCode> {
  const config = configured(flags, terminal)
  const organisation = chosen(config, flags.organisation)
  const redaction = await redactionOf(config)
  const redact = createRedact([organisation.key])
  const report = (text: string): void => {
    terminal.err(`${oneLine(redact(text))}\n`)
  }
  // a pause of the governor has no line: the request that caused it is retried after it, or fails
  const emit = (event: RunEvent): void => {
    if (event.type === 'warning') report(event.message)
    if (event.type === 'organisation.addressed') report(addressing(event))
    if (event.type === 'request.retried' && event.waitMs >= NOTABLE_MS) {
      report(`${event.reason}: retrying in ${duration(event.waitMs)}`)
    }
  }
  const { world, close } = createWorld(emit, terminal)
  if (organisation.isFromFile || organisation.keyWarning !== null) announce([organisation], emit)
  try {
    const { name, baseUrl, appUrl, key: credential } = organisation
    const { dataFolder, rate, concurrency } = config
    const learned = await learnedLimits.read(dataFolder, name)
    const deadline = world.now() + patienceMs
    const options = { baseUrl, appUrl: appUrl ?? undefined, credential, rate, concurrency }
    const clientIn = (another: World): ApiClient =>
      new ApiClient({ ...options, deadline, learned }, another)
    return await work({
      world,
      client: clientIn(world),
      appUrl,
      clientIn,
      flags,
      terminal,
      clean: (resource, item) => {
        const text = redaction.item(resource, item)
        return { text, value: JSON.parse(text) }
      },
      hide: (text) => redaction.text(redact(text)),
      report,
      print: (output) => {
        terminal.out(printed(output, flags.json))
      },
    })
  } catch (error) {
    throw explained(error, advice, redact)
  } finally {
    await close()
  }
}

/** @throws UsageError if there is no terminal to ask on, and no --yes or --dry-run. */
function requireConsent(flags: PlatformFlags, { ask }: Terminal): void {
  if (flags.yes === true || flags.dryRun === true || ask !== null) return
  const problem = 'there is no terminal to ask for confirmation'
  throw new UsageError(`this command changes data on the platform, and ${problem}`, {
    hint: 'Use --yes to skip the question, or --dry-run to see what would be sent.',
  })
}

/**
 * Asks the user to confirm `what` the requests change; true if they are to be sent. A dry run
 * prints exactly what would be sent; then it is false.
 *
 * @throws UsageError if the user does not answer yes.
 */
export async function mayChange(
  platform: Platform,
  what: string,
  asks: readonly Ask[],
): Promise<boolean> {
  const { flags, terminal, world, print } = platform
  if (flags.dryRun === true) {
    const requests = await requestsOf(platform, asks)
    const listed = requests.map(requestJson).join(',\n')
    const json = `{\n  "dry_run": true,\n  "requests": [\n${listed}\n  ]\n}`
    print({ json, text: requests.map(requestText).join('') })
    return false
  }
  if (flags.yes === true) return true
  const answer = await terminal.ask?.(`${visible(what)}. Continue? [y/N] `, world.signal)
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return true
  throw new UsageError('not confirmed: nothing was changed')
}

/** `body`: JSON as sent, because a reader could round its numbers. */
type Planned = Pick<HttpRequest, 'method' | 'url'> & { readonly body: string | null }

class NotSent extends AppError {}

/**
 * Makes the requests with a `fetch` that records them instead of sending, so that exactly what
 * would be sent can be printed, without secrets.
 */
async function requestsOf(
  { clean, clientIn, world }: Platform,
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

function chosen(config: Config, name: string | undefined): OrganisationConfig {
  const names = config.hosts().map((each) => each.name)
  if (name === undefined && names.length > 1) {
    throw new UsageError(`${names.length} organisations are configured: ${someOf(names)}`, {
      hint: `Name one: --organisation ${shellWord(names[0] ?? '')}`,
    })
  }
  const [organisation] = config.organisations(name === undefined ? undefined : [name])
  if (organisation === undefined) throw new UsageError('no organisation is configured')
  return organisation
}

/** Creates no key in the data folder: without one, the markers are valid for one command. */
async function redactionOf({ dataFolder, redactionKey }: Config): Promise<Redaction> {
  if (redactionKey !== null) return new Redaction(redactionKey)
  if (await hasRedactionKey(dataFolder)) return openRedaction(dataFolder)
  return new Redaction(randomBytes(32).toString('hex'))
}

/** Statuses that reject the request as wrong or impossible in the current state. */
const WRONG: ReadonlySet<number> = new Set([400, 404, 409, 422])

const UNREACHABLE =
  'Check the address and where it is configured, the network and the proxy, then try again.'

/** A failure as shown to the user: the platform's words without secrets, and the next step. */
export class ReportedError extends AppError {
  override readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, hint: string | undefined) {
    super(message, { hint })
    this.exitCode = exitCode
  }
}

/** Work of several requests, of which one failed after others had changed something. */
export class HalfDoneError extends AppError {
  override readonly exitCode = ExitCode.partial
  readonly failure: unknown

  constructor(done: string, hint: string, failure: unknown) {
    super(done, { hint })
    this.failure = failure
  }
}

/** The error to report, without the credential; unexpected errors stay unchanged. */
function explained(error: unknown, advice: Advice, redact: (text: string) => string): unknown {
  if (error instanceof HalfDoneError) {
    const failure = explained(error.failure, advice, redact)
    return new ReportedError(`${messageOf(failure)}; ${error.message}`, error.exitCode, error.hint)
  }
  if (error instanceof ApiError || error instanceof RefusedError) {
    const exitCode = WRONG.has(error.status) ? ExitCode.usage : error.exitCode
    return new ReportedError(redact(error.message), exitCode, advice[error.status] ?? error.hint)
  }
  if (!(error instanceof AppError)) return error
  const usual = error instanceof TransportError ? UNREACHABLE : undefined
  const hint = error instanceof DeferredError ? 'Try again later.' : (error.hint ?? usual)
  return new ReportedError(redact(error.message), error.exitCode, hint)
}
