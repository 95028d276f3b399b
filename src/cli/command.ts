import type {
  ArgumentsCamelCase,
  Argv,
  InferredOptionTypes,
  Options,
  PositionalOptions,
} from 'yargs'
import { loadConfig, type Config, type ConfigFlags } from '../config/config.ts'
import { AppError, ExitCode, messageOf, UsageError } from '../lib/errors.ts'
import { setProcessLimits } from '../lib/machine.ts'
import { oneLine } from '../lib/text.ts'
import type { Environment } from '../lib/trust.ts'

export const NAME = 'agent-warehouse'

/** The process's terminal, of which `program` makes a safe Terminal. */
export type Screen = Omit<Terminal, 'draw' | 'data'>

/** Where a command writes, and what it may read of the process. */
export interface Terminal {
  readonly out: (text: string) => void
  /** Standard output for formats that programs read: escaped only on a terminal. */
  readonly data: (text: string) => void
  readonly err: (text: string) => void
  /** Standard error for drawing, colours included: other text must have passed `safeText`. */
  readonly draw: (text: string) => void
  /** Whether standard error, which shows the progress, is a terminal. */
  readonly isTty: boolean
  /** The present width of standard error: a terminal can be resized. */
  readonly columns: () => number
  /** Width of standard output if it is a terminal. */
  readonly outWidth: number | undefined
  readonly hasColour: boolean
  /**
   * Asks the user; the answer is empty if there is none, or if `signal` aborts. Null without a
   * terminal.
   */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<string>) | null
  readonly environment: Environment
  readonly cwd: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** An option, or a positional argument: `show <revision>`. */
type Option = Options & PositionalOptions & { readonly isArgument?: true }
export type OptionSet = Readonly<Record<string, Option>>

export type Flags<O extends OptionSet> = ArgumentsCamelCase<InferredOptionTypes<O>>

/** What a command prints: with --json a value or JSON text as served, otherwise text. */
export interface Output {
  readonly json: object | string
  readonly text: string
  /** @default complete */
  readonly exitCode?: ExitCode
}

/** Lines to copy, in which `$0` is the program, and their purposes. */
export type Examples = Readonly<Record<string, string>>

export interface Command {
  readonly examples: Examples
  readonly options: OptionSet
  run(flags: object, terminal: Terminal): Promise<ExitCode | Output>
}

interface TypedCommand<O extends OptionSet> extends Command {
  readonly options: O
  run(flags: Flags<O>, terminal: Terminal): Promise<ExitCode | Output>
}

export function defineCommand<O extends OptionSet>(command: TypedCommand<O>): Command {
  return command
}

/** An option with a value. */
export function text(describe: string) {
  return { type: 'string', requiresArg: true, describe } as const
}

export function textOr<T extends string>(value: T, describe: string) {
  return { ...text(describe), default: value } as const
}

/** An option with a value that may be repeated. */
export function texts(describe: string) {
  return { type: 'string', array: true, nargs: 1, describe } as const
}

/** An option whose value is a number. */
export function number(describe: string) {
  return { type: 'number', requiresArg: true, describe } as const
}

/** An option without a value. */
export function flag(describe: string) {
  return { type: 'boolean', default: false, describe } as const
}

export function optionalArgument(describe: string) {
  return { type: 'string', isArgument: true, describe } as const
}

export function argument(describe: string) {
  return { ...optionalArgument(describe), demandOption: true } as const
}

export const dataOptions = {
  data: text('data folder (default: AGENT_WAREHOUSE_DATA, else ./data)'),
  config: text('configuration file (default: agent-warehouse.yaml, if it exists)'),
}

export const jsonOption = { json: flag('print JSON') }

/** Options of commands that report their progress. */
export const logOption = {
  log: {
    choices: ['auto', 'text', 'json', 'none'],
    default: 'auto',
    describe: 'progress on standard error; auto: live on a terminal, otherwise text lines',
  },
} as const

export const reportOptions = { ...logOption, ...jsonOption }

/**
 * Loads the configuration of a command, and applies its limits to this process.
 *
 * @throws UsageError as `loadConfig` does.
 */
export function configured(
  flags: ConfigFlags,
  { environment, cwd }: Pick<Terminal, 'environment' | 'cwd'>,
): Config {
  const config = loadConfig(flags, environment, cwd)
  setProcessLimits(config.limits)
  return config
}

interface DataCommand<O extends OptionSet> {
  readonly examples: Examples
  /** Its own options, besides dataOptions. */
  readonly options: O
  /** Reads the options, so that a wrong one is reported first, and returns the work. */
  readonly run: (
    flags: Flags<typeof dataOptions> & Flags<O>,
    terminal: Terminal,
  ) => (config: Config) => Promise<ExitCode | Output>
}

/** A command that works with the configuration. */
export function dataCommand<O extends OptionSet>(command: DataCommand<O>): Command {
  const { examples, options, run } = command
  return {
    examples,
    options: { ...dataOptions, ...options },
    run: async (flags: Flags<typeof dataOptions> & Flags<O>, terminal) => {
      const work = run(flags, terminal)
      return work(configured(flags, terminal))
    },
  }
}

/** Output as it is printed. An integer that most readers of JSON would round is a string. */
export function printed({ json, text: plain }: Output, isJson: boolean): string {
  if (!isJson) return plain
  const exact = (_: string, value: unknown): unknown =>
    typeof value === 'bigint' ? String(value) : value
  return `${typeof json === 'string' ? json : JSON.stringify(json, exact, 2)}\n`
}

export function report(error: unknown, { err }: Pick<Terminal, 'err'>): void {
  err(`${NAME}: ${oneLine(messageOf(error))}\n`)
  if (error instanceof AppError && error.hint !== undefined) err(`  ${error.hint}\n`)
}

/** A command's usage, its purpose, and the command or a function that loads it. */
export type Entry = readonly [
  usage: string,
  purpose: string,
  what: Command | (() => Promise<Command | Group>),
]

/** Commands under one name: `controls list`, `controls show`. */
type Group = readonly Entry[]

interface Context {
  readonly argv: readonly string[]
  readonly terminal: Terminal
  /** Collects the names of the parser's options. */
  readonly options: Set<string>
  /** The commands that may follow. */
  readonly commands: Set<string>
  readonly done: (exitCode: ExitCode) => void
  /** How many words name the group of the command. @default 0 */
  readonly depth?: number
}

export function namesOf(entries: readonly Entry[]): string[] {
  return entries.map(([usage]) => usage.replace(/ .*/, ''))
}

/** Adds a command, or a group of commands, to the parser. */
export function register(parser: Argv, [usage, purpose, what]: Entry, context: Context): Argv {
  const load = async () => (typeof what === 'function' ? what() : what)
  const depth = (context.depth ?? 0) + 1
  const build = async (sub: Argv): Promise<void> => {
    const loaded = await load()
    context.commands.clear()
    if ('options' in loaded) {
      declare(sub, loaded, context)
      return
    }
    for (const name of namesOf(loaded)) context.commands.add(name)
    for (const entry of loaded) register(sub, entry, { ...context, depth })
    sub.demandCommand(1, `Name a subcommand; ${NAME} ${usage} --help lists them.`)
  }
  return parser.command(usage, purpose, build, async (flags: ArgumentsCamelCase) => {
    const loaded = await load()
    refuseUnread(flags._.slice(depth))
    if ('options' in loaded) context.done(await execute(loaded, flags, context.terminal))
  })
}

/** The parser ignores the arguments after `--` that no command reads. @throws UsageError */
function refuseUnread([first]: readonly (string | number)[]): void {
  if (first === undefined) return
  throw new UsageError(`Unknown argument: ${first}`, {
    hint: 'What follows -- is not read. See --help.',
  })
}

/** @throws UsageError for `--dry-run=yes`, which the parser reads as false. */
function refuseOtherValues({ options }: Command, argv: readonly string[]): void {
  for (const argument of argv) {
    const [, name = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(argument) ?? []
    const option = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const isFlag = option === 'debug' || options[option]?.type === 'boolean'
    if (!isFlag || ['true', 'false'].includes(value)) continue
    throw new UsageError(`--${name}: '${value}' is neither true nor false`, {
      hint: `Write --${name} alone, or leave it out.`,
    })
  }
}

function declare(parser: Argv, command: Command, { argv, terminal, options }: Context): void {
  refuseOtherValues(command, argv)
  showExamples(parser, command.examples, terminal)
  for (const [option, { isArgument, ...how }] of Object.entries(command.options)) {
    if (isArgument === true) parser.positional(option, how)
    else parser.option(option, how)
    options.add(option)
  }
}

/** How far `--help` moves an example to the right, and away from the right edge. */
const PADDING = 4

export function helpWidth({ columns }: Terminal): number {
  return Math.min(100, columns())
}

/** Prints each example below its purpose and on one line, so that it can be copied. */
function showExamples(parser: Argv, examples: Examples, terminal: Terminal): void {
  const lines = Object.entries(examples).map(([line, purpose]) => {
    return { line: line.replaceAll('$0', NAME), purpose }
  })
  parser.wrap(Math.max(helpWidth(terminal), ...lines.map(({ line }) => line.length + PADDING)))
  parser.example(lines.map(({ line, purpose }) => [`# ${purpose}\n${line}`, '']))
}

/**
 * Runs a command and prints its output. If an option that may not be repeated is repeated, its
 * last value counts. @throws UsageError for a number option whose value is not a number
 */
async function execute(
  command: Command,
  given: ArgumentsCamelCase,
  terminal: Terminal,
): Promise<ExitCode> {
  const flags: Record<string, unknown> = { ...given }
  for (const [name, value] of Object.entries(given)) {
    const isRepeatable = name === '_' || command.options[name]?.array === true
    if (Array.isArray(value) && !isRepeatable) flags[name] = value.at(-1)
    if (Number.isNaN(flags[name])) throw new UsageError(`--${name}: that is not a number`)
  }
  const output = await command.run(flags, terminal)
  if (typeof output === 'number') return output
  terminal.out(printed(output, flags['json'] === true))
  return output.exitCode ?? ExitCode.complete
}
