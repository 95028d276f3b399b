import type { Argv, ArgumentsCamelCase } from 'yargs'
import type { ExitCode } from '../lib/errors.ts'

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

/** What every command declares, whatever its options. */
export interface CommandBase<Options> {
  readonly examples: readonly [string, string][]
  readonly options: (yargs: Argv) => Argv<Options>
  readonly run: (options: ArgumentsCamelCase<Options>, terminal: Terminal) => Promise<ExitCode>
}

/** Names of the options and arguments whose value is a list. */
type ListNames<Options> = {
  [Name in keyof Options & string]-?: NonNullable<Options[Name]> extends readonly unknown[]
    ? Name
    : never
}[keyof Options & string]

/** Options and arguments that may be repeated; of any other the last value counts. */
export type Repeatable = Readonly<Record<string, true>>

/**
 * One command as data: what it takes, what it does. Its name and purpose are in `commands.ts`.
 * A command with a list among its options must name it as repeatable: without that the
 * parser would reduce it to its last value.
 */
export type Command<Options> = CommandBase<Options> &
  ([ListNames<Options>] extends [never]
    ? unknown
    : { readonly repeatable: Readonly<Record<ListNames<Options>, true>> })

/** What yargs makes of a command's options. */
export type OptionsOf<F extends (yargs: Argv) => Argv<unknown>> =
  ReturnType<F> extends Argv<infer T> ? T : never

/** Options that every command on a data folder takes. */
export function dataOptions(yargs: Argv) {
  return yargs
    .option('data', {
      type: 'string',
      requiresArg: true,
      describe: 'data folder (default ./data, or AGENT_WAREHOUSE_DATA)',
    })
    .option('config', {
      type: 'string',
      requiresArg: true,
      describe: 'configuration file (default agent-warehouse.yaml, if there is one)',
    })
}

export function jsonOption<T>(yargs: Argv<T>) {
  return yargs.option('json', { type: 'boolean', default: false, describe: 'print JSON' })
}

/** Options of commands that do work and tell of it as it goes. */
export function logOptions<T>(yargs: Argv<T>) {
  return yargs.option('log', {
    choices: ['auto', 'text', 'json', 'none'] as const,
    default: 'auto' as const,
    describe: 'progress on standard error: live on a terminal, else text lines',
  })
}
