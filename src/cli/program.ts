import yargs, { type Argv } from 'yargs'
import { AppError, ExitCode, UsageError } from '../lib/errors.ts'
import { nearest, safeText, suggestion } from '../lib/text.ts'
import { explainedFault } from '../lib/disk.ts'
import { version } from '../lib/package.ts'
import {
  helpWidth,
  NAME,
  namesOf,
  register,
  report,
  type Screen,
  type Terminal,
} from './command.ts'
import { COMMANDS } from './commands.ts'

const EPILOGUE = `Exit codes: 0 complete, 1 unexpected error, 2 wrong usage or configuration, 3 partial (some
intervals or users failed), 4 deferred or stopped by a signal (the next run continues),
5 credential or role refused, 6 checks failed (nothing published) or verify found a
difference, 7 another run holds the lock.`

/** Replaces messages of the parser; setting any also prevents messages in the machine's language. */
const WORDS = {
  'Argument: %s, Given: %s, Choices: %s': '%s: %s is not one of %s',
}

const TOO_FEW = /^Not enough non-option arguments: got (\d+), need at least (\d+)$/

/** Runs a command and returns its exit code. Only this function prints errors. */
export async function program(argv: readonly string[], screen: Screen): Promise<ExitCode> {
  const terminal = safeTerminal(screen)
  let exitCode: ExitCode = ExitCode.complete
  const options = new Set(['debug', 'help', 'version'])
  const commands = new Set(namesOf(COMMANDS))
  const isQuery = argv.includes('query') // options may come before it
  const parser: Argv = yargs()
    .scriptName(NAME)
    .usage('$0 <command>\n\nLoads the usage of an AI-agent platform into a DuckDB warehouse.')
    .version(version)
    .option('debug', {
      type: 'boolean',
      default: false,
      describe: 'show the stack trace of an error',
    })
    // `--no-data` and `--data.x` are unknown options: `data` would not be a text
    .parserConfiguration({ 'boolean-negation': false, 'dot-notation': false })
    .strict()
    .strictCommands()
    .demandCommand(1, 'Name a command.')
    .updateStrings(WORDS)
    .exitProcess(false)
    .wrap(helpWidth(terminal))
    .epilogue(EPILOGUE)
    .fail((message: string | null, error: Error | undefined) => {
      const problem = message ?? 'the arguments could not be parsed'
      throw error ?? wrongArguments(problem, argv, options, commands)
    })
  const done = (code: ExitCode) => void (exitCode = code)
  const context = { argv, terminal, options, commands, done }
  for (const entry of COMMANDS) register(parser, entry, context)
  try {
    refuseEmpty(argv)
    // without this callback, the parser would print help and version itself
    await parser.parseAsync(isQuery ? argv.map(notAnOption) : argv, {}, (_error, _flags, text) => {
      if (text !== '') terminal.out(`${text}\n`)
    })
    return exitCode
  } catch (error) {
    // an error of the parser, which does not report errors within a command itself
    const isOfParser = error instanceof Error && error.name === 'YError'
    const failure = isOfParser ? wrongArguments(error.message, argv) : error
    return say(explainedFault(failure), argv.includes('--debug'), terminal)
  }
}

/**
 * Refuses an empty value, which comes from a variable that a script has not set: it must
 * not mean a default, or everything. @throws UsageError
 */
function refuseEmpty(argv: readonly string[]): void {
  const at = argv.findIndex((each) => /^(?:--?[^=\s]+=)?\s*$/.test(each))
  if (at < 0) return
  const names = [argv[at]?.split('=')[0]?.trim(), argv[at - 1]]
  const name = names.find((each) => each !== '--' && each?.startsWith('-'))
  const place = name === undefined ? `argument ${at + 1}` : `the value of ${name}`
  throw new UsageError(`${place} is empty`, {
    hint: 'A shell variable that is not set results in an empty value.',
  })
}

/** A statement that begins with a comment would be read as an option, whose name has no blank. */
function notAnOption(argument: string): string {
  return /^--[^\s=]*\s/.test(argument) ? `\n${argument}` : argument
}

/** All text for a terminal passes `safeText`, wherever it comes from. */
function safeTerminal({ out, err, ask, ...screen }: Screen): Terminal {
  const safeOut = (text: string): void => {
    out(safeText(text))
  }
  return {
    ...screen,
    out: safeOut,
    data: screen.outWidth === undefined ? out : safeOut,
    err: (text) => {
      err(safeText(text))
    },
    draw: err,
    ask: ask === null ? null : (question, signal) => ask(safeText(question), signal),
  }
}

const QUOTE_IT = 'Quote the statement: agent-warehouse query "select …". '

/**
 * One line, never the whole help; for an unknown option or command, the hint names the nearest one.
 * `commands`: those that could follow; none after a command without subcommands.
 */
function wrongArguments(
  message: string,
  argv: readonly string[],
  options: Iterable<string> = [],
  commands: ReadonlySet<string> = new Set(),
): UsageError {
  const line = message
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/^Invalid values: /, '') // the parser ignores an empty replacement
    .replace(TOO_FEW, 'arguments: $1 given, at least $2 needed')
    .replace(/^Unknown command/, 'Unknown argument')
  const [, kind, unknown = ''] = /^Unknown (command|argument)s?: ([^,]+)/.exec(message) ?? []
  if (kind === 'command' && commands.size > 0) {
    const hint = `${suggestion(unknown, commands)} See --help.`
    return new UsageError(`there is no command '${unknown}'`, { hint })
  }
  const near = kind === 'argument' ? nearest(unknown, options) : undefined
  const otherwise = kind === 'command' && argv.includes('query') ? QUOTE_IT : ''
  const meant = near === undefined ? otherwise : `Did you mean --${near}? `
  return new UsageError(line, { hint: `${meant}See --help.` })
}

function say(error: unknown, isDebug: boolean, terminal: Terminal): ExitCode {
  report(error, terminal)
  if (isDebug && error instanceof Error) terminal.err(`${stackOf(error)}\n`)
  else if (!(error instanceof AppError)) terminal.err('  --debug shows the stack trace.\n')
  return error instanceof AppError ? error.exitCode : ExitCode.unexpected
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : ''
  return `${error.stack ?? error.message}${cause}`
}
