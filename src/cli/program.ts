import yargs, { type Argv } from 'yargs'
import { z } from 'zod'
import { AppError, ExitCode, messageOf, UsageError } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'
import { oneLine, safeText } from '../core/safe-text.ts'
import { diskFault } from '../store/disk.ts'
import { version } from '../version.ts'
import type { Terminal } from './command.ts'
import { COMMANDS } from './commands.ts'

const EPILOGUE = `Exit codes: 0 complete, 1 unexpected, 2 usage or configuration, 3 partial (some
intervals or users failed, and are named), 4 deferred (the next run goes on), 5 credential
or role refused, 6 checks failed (nothing published) or verify found a difference,
7 another run holds the lock.`

/** argv → command → exit code. The one place that prints errors. */
export async function program(
  argv: readonly string[],
  screen: Omit<Terminal, 'draw'>,
): Promise<ExitCode> {
  const terminal = safeTerminal(screen)
  let exitCode: ExitCode = ExitCode.complete
  const parser: Argv = yargs()
    .scriptName('agent-warehouse')
    .usage('$0 <command>\n\nThe usage of an AI-agent platform as a warehouse.')
    .version(version)
    .option('debug', { type: 'boolean', default: false, describe: 'show the stack of an error' })
    .parserConfiguration({ 'duplicate-arguments-array': false })
    .strict()
    .demandCommand(1, 'Name a command.')
    .recommendCommands()
    .exitProcess(false)
    .wrap(Math.min(100, terminal.columns))
    .epilogue(EPILOGUE)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? wrongArguments(message ?? 'the arguments cannot be read', parser)
    })
  const context = { terminal, done: (code: ExitCode) => void (exitCode = code) }
  for (const register of COMMANDS) register(parser, context)
  try {
    refuseEmpty(argv)
    // What the parser itself says, help and version, it would else print past the terminal.
    await parser.parseAsync(argv, {}, (_error, _flags, text) => {
      if (text !== '') terminal.out(`${text}\n`)
    })
    return exitCode
  } catch (error) {
    const failure = isOfParser(error) ? wrongArguments(error.message) : error
    return say(diskFault(failure) ?? failure, argv.includes('--debug'), terminal)
  }
}

/**
 * An empty value comes from a variable that a script has not set: it never means
 * a default, or everything. @throws UsageError
 */
function refuseEmpty(argv: readonly string[]): void {
  const at = argv.findIndex((each) => /^(?:--?[^=\s]+=)?\s*$/.test(each))
  if (at < 0) return
  const name = [argv[at]?.split('=')[0]?.trim(), argv[at - 1]].find((each) => each?.startsWith('-'))
  const place = name === undefined ? `argument ${at + 1}` : `the value of ${name}`
  throw new UsageError(`${place} is empty`, {
    hint: 'A shell variable that is not set gives an empty value.',
  })
}

/** All that is written passes `safeText`, whoever said it. */
function safeTerminal({ out, err, ask, ...screen }: Omit<Terminal, 'draw'>): Terminal {
  return {
    ...screen,
    out: (text) => {
      out(safeText(text))
    },
    err: (text) => {
      err(safeText(text))
    },
    draw: err,
    ask: ask === null ? null : (question, signal) => ask(safeText(question), signal),
  }
}

/** One line; of an unknown option the nearest one that there is. Never the whole help. */
function wrongArguments(message: string, parser?: unknown): UsageError {
  const line = message.replaceAll(/\s*\n\s*/g, ' ')
  const [, unknown] = /^Unknown arguments?: ([^,]+)/.exec(message) ?? []
  const near = unknown === undefined ? undefined : nearest(unknown, optionsOf(parser))
  const meant = near === undefined ? '' : `Did you mean --${near}? `
  return new UsageError(line, { hint: `${meant}See --help.` })
}

const withOptions = z.object({ key: z.record(z.string(), z.unknown()) })

/** The options that the parser knows where it failed; its types do not say how to ask it. */
function optionsOf(parser: unknown): string[] {
  if (!hasOptions(parser)) return []
  const { data } = withOptions.safeParse(parser.getOptions())
  return Object.keys(data?.key ?? {}).filter((name) => !/[A-Z]/.test(name) && name.length > 1)
}

function hasOptions(parser: unknown): parser is { getOptions: () => unknown } {
  return typeof parser === 'object' && parser !== null && 'getOptions' in parser
}

/** The parser's own error, of which it says nothing where it was met in a command. */
function isOfParser(error: unknown): error is Error {
  return error instanceof Error && error.name === 'YError'
}

function say(error: unknown, isDebug: boolean, terminal: Terminal): ExitCode {
  terminal.err(`agent-warehouse: ${oneLine(messageOf(error))}\n`)
  if (error instanceof AppError && error.hint !== undefined) terminal.err(`  ${error.hint}\n`)
  if (isDebug && error instanceof Error) terminal.err(`${stackOf(error)}\n`)
  else if (!(error instanceof AppError)) terminal.err('  --debug shows where it happened.\n')
  return error instanceof AppError ? error.exitCode : ExitCode.unexpected
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : ''
  return `${error.stack ?? error.message}${cause}`
}
