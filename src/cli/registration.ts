import type { ArgumentsCamelCase, Argv } from 'yargs'
import { UsageError, type ExitCode } from '../lib/errors.ts'
import type { Command, Terminal } from './command.ts'

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
