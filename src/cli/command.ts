import type {
  ArgumentsCamelCase,
  InferredOptionTypes,
  Options,
  PositionalOptions,
  Argv,
} from 'yargs'
import { loadConfig, type Config, type ConfigFlags } from '../config/config.ts'
import { type ExitCode, UsageError } from '../lib/errors.ts'
import { setProcessLimits } from '../lib/machine.ts'

/** What the process gives; `program` makes a Terminal of it. */
export type Screen = Omit<Terminal, 'draw' | 'data'>

/** Where a command writes, and what it may read of the process. */
export interface Terminal {
  readonly out: (text: string) => void
  /** Standard output for formats that programs read: changed only where a terminal shows it. */
  readonly data: (text: string) => void
  readonly err: (text: string) => void
  /** Standard error for what draws, colours included: no text of others that `safeText` did not pass. */
  readonly draw: (text: string) => void
  /** Of standard error, where progress goes. */
  readonly isTty: boolean
  readonly columns: number
  /** Width of standard output where it is a terminal. */
  readonly outWidth: number | undefined
  readonly hasColour: boolean
  /**
   * Asks the person there, who may answer nothing, also because `signal` ended it;
   * null where there is no terminal to ask on.
   */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<string>) | null
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** An option, or an argument that has its place in the command: `show <revision>`. */
type Option = Options & PositionalOptions & { readonly isArgument?: true }
type OptionSet = Readonly<Record<string, Option>>

/** What the parser makes of options and arguments. */
export type Flags<O extends OptionSet> = ArgumentsCamelCase<InferredOptionTypes<O>>

/** What every command declares. Its name and purpose are in `commands.ts`. */
interface Spec<O, F> {
  readonly examples: readonly [string, string][]
  readonly options: O
  readonly run: (flags: ArgumentsCamelCase<F>, terminal: Terminal) => Promise<ExitCode>
}

/** One command as data: what it takes, what it does. */
export type Command<F> = Spec<OptionSet, F>

/** A command whose flags have the types of its options. */
export function defineCommand<O extends OptionSet>(
  command: Spec<O, InferredOptionTypes<O>>,
): Command<InferredOptionTypes<O>> {
  return command
}

/** An option with a value. */
export function text(describe: string) {
  return { type: 'string', requiresArg: true, describe } as const
}

/** An option with a value, and what it is otherwise. */
export function textOr<T extends string>(value: T, describe: string) {
  return { ...text(describe), default: value } as const
}

/** An option with a value, which may be given several times. */
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

/** An argument that may be given. */
export function optionalArgument(describe: string) {
  return { type: 'string', isArgument: true, describe } as const
}

/** An argument that must be given. */
export function argument(describe: string) {
  return { ...optionalArgument(describe), demandOption: true } as const
}

/** Options of every command on a data folder. */
export const dataOptions = {
  data: text('data folder (default ./data, or AGENT_WAREHOUSE_DATA)'),
  config: text('configuration file (default agent-warehouse.yaml, if there is one)'),
}

export const jsonOption = { json: flag('print JSON') }

/** Options of commands that report their progress. */
export const logOption = {
  log: {
    choices: ['auto', 'text', 'json', 'none'],
    default: 'auto',
    describe: 'progress on standard error: live on a terminal, else text lines',
  },
} as const

/**
 * The configuration of a command, whose process keeps to its limits from now on.
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

/** A value as JSON for machines. */
export function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** The command's name. */
export const NAME = 'agent-warehouse'

/** What a command is run with, and who is told what came of it. */
export interface Context {
  readonly terminal: Terminal
  readonly done: (exitCode: ExitCode) => void
}

/** Adds one command, or a group of them, to what the parser knows. */
export type Registration = (parser: Argv, context: Context) => Argv

/** A command as it is, or what loads it when it is given. */
export function command<F>(
  name: string,
  describe: string,
  given: Command<F> | (() => Promise<Command<F>>),
): Registration {
  const load = async () => (typeof given === 'function' ? given() : given)
  return (parser, { terminal, done }) =>
    parser.command(
      name,
      describe,
      async (sub: Argv) => {
        const loaded = await load()
        if (repeatableOf(loaded).length > 0) {
          sub.parserConfiguration({ 'duplicate-arguments-array': true })
        }
        showExamples(sub, loaded.examples, terminal)
        for (const [option, { isArgument, ...how }] of Object.entries(loaded.options)) {
          if (isArgument === true) sub.positional(option, how)
          else sub.option(option, how)
        }
      },
      async (flags: ArgumentsCamelCase<F>) => {
        const loaded = await load()
        const last = withLast(flags, repeatableOf(loaded))
        refuseNoNumber(last)
        done(await loaded.run(last, terminal))
      },
    )
}

/** How far `--help` moves an example to the right, and away from the right edge. */
const PADDING = 4

/** Columns of `--help` on a terminal. */
export function helpWidth({ columns }: Pick<Terminal, 'columns'>): number {
  return Math.min(100, columns)
}

/** Each below what it is for and on one line however long it is: it is there to be copied. */
function showExamples(
  parser: Argv,
  examples: readonly [string, string][],
  terminal: Terminal,
): void {
  const lines = examples.map(([line]) => line.replaceAll('$0', NAME))
  parser.wrap(Math.max(helpWidth(terminal), ...lines.map(({ length }) => length + PADDING)))
  parser.example(examples.map(([, purpose], at) => [`# ${purpose}\n${lines[at] ?? ''}`, '']))
}

/** Commands under one name: `controls list`, `controls show`. */
export function group(
  name: string,
  describe: string,
  load: () => Promise<readonly Registration[]>,
): Registration {
  return (parser, context) =>
    parser.command(name, describe, async (sub: Argv) => {
      for (const register of await load()) register(sub, context)
      sub.demandCommand(1, `Name what to do: agent-warehouse ${name} --help lists it.`)
    })
}

/** Names of the options and arguments whose value is a list; of any other the last value counts. */
function repeatableOf<F>({ options }: Command<F>): string[] {
  return Object.keys(options).filter((name) => options[name]?.array === true)
}

/** Of what may not be repeated and was, the last value. */
function withLast<T extends object>(flags: T, repeatable: readonly string[]): T {
  const last = Object.entries(flags)
    .filter(([name, value]) => name !== '_' && !repeatable.includes(name) && Array.isArray(value))
    .map(([name, value]: [string, readonly unknown[]]) => [name, value.at(-1)] as const)
  return { ...flags, ...Object.fromEntries(last) }
}

/** What is to be a number and is none arrives as NaN. @throws UsageError */
function refuseNoNumber(flags: object): void {
  const wrong = Object.entries(flags).find(([, value]) => Number.isNaN(value))
  if (wrong !== undefined) throw new UsageError(`--${wrong[0]}: that is not a number`)
}
