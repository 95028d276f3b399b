import type { ArgumentsCamelCase, Argv } from 'yargs'
import { UsageError, type ExitCode } from '../lib/errors.ts'
import type { CommandBase, Repeatable, Terminal } from './command.ts'

/** What a command is run with, and who is told what came of it. */
export interface Context {
  readonly terminal: Terminal
  readonly done: (exitCode: ExitCode) => void
}

/** Adds one command, or a group of them, to what the parser knows. */
export type Registration = (parser: Argv, context: Context) => Argv

/** Only the module of the command that was given is loaded. */
export function command<T>(
  name: string,
  describe: string,
  load: () => Promise<CommandBase<T> & { readonly repeatable?: Repeatable }>,
): Registration {
  return (parser, { terminal, done }) =>
    parser.command(
      name,
      describe,
      async (sub) => {
        const { options, examples, repeatable } = await load()
        if (repeatable !== undefined) sub.parserConfiguration({ 'duplicate-arguments-array': true })
        return options(sub.example(examples))
      },
      async (flags: ArgumentsCamelCase<T>) => {
        const { run, repeatable = {} } = await load()
        const last = withLast(flags, repeatable)
        refuseNoNumber(last)
        done(await run(last, terminal))
      },
    )
}

/** Commands under one name: `controls list`, `controls show`. */
export function group(
  name: string,
  describe: string,
  commands: readonly Registration[],
): Registration {
  return (parser, context) =>
    parser.command(name, describe, (sub) => {
      for (const register of commands) register(sub, context)
      return sub.demandCommand(1, `Name what to do: agent-warehouse ${name} --help lists it.`)
    })
}

/** Of what may not be repeated and was, the last value. */
function withLast<T extends object>(flags: T, repeatable: Repeatable): T {
  const last = Object.entries(flags)
    .filter(([name, value]) => name !== '_' && !(name in repeatable) && Array.isArray(value))
    .map(([name, value]: [string, readonly unknown[]]) => [name, value.at(-1)] as const)
  return { ...flags, ...Object.fromEntries(last) }
}

/** What is to be a number and is none arrives as NaN. @throws UsageError */
function refuseNoNumber(flags: object): void {
  const wrong = Object.entries(flags).find(([, value]) => Number.isNaN(value))
  if (wrong !== undefined) throw new UsageError(`--${wrong[0]}: that is not a number`)
}
