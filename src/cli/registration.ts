import type { ArgumentsCamelCase, Argv } from 'yargs'
import type { ExitCode } from '../core/errors.ts'
import type { Command, Terminal } from './command.ts'

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
  load: () => Promise<Command<T>>,
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
        const { run, repeatable = [] } = await load()
        done(await run(withLast(flags, repeatable), terminal))
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

/** Of what may not be repeated and was, the last. */
function withLast<T extends object>(flags: T, repeatable: readonly string[]): T {
  const last = Object.entries(flags)
    .filter(([name, value]) => name !== '_' && !repeatable.includes(name) && Array.isArray(value))
    .map(([name, value]: [string, readonly unknown[]]) => [name, value.at(-1)] as const)
  return { ...flags, ...Object.fromEntries(last) }
}
