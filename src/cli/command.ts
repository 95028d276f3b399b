import type { ArgumentsCamelCase, InferredOptionTypes, Options, PositionalOptions } from 'yargs'
import { loadConfig, type Config, type ConfigFlags } from '../config/config.ts'
import type { ExitCode } from '../lib/errors.ts'
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
