import yargs, { type Argv } from 'yargs'
import { COMMANDS } from '../../src/cli/commands.ts'
import { program } from '../../src/cli/program.ts'

/** What there is on the platform to name in arguments. */
export interface Named {
  readonly session: string
  readonly message: string
  readonly email: string
}

/**
 * Arguments of every command that a test runs inside of its own process, in an order in
 * which each finds what it needs. Without arguments: a command that asks the platform
 * of nobody else (`emulate`, `demo`), or ends the process that it runs in (`hooks run`).
 */
const ARGUMENTS: Readonly<Record<string, ((named: Named) => readonly string[]) | null>> = {
  plan: () => [],
  sync: () => ['--from', '2026-02-01', '--to', '2026-02-02'],
  build: () => [],
  run: () => ['--from', '2026-02-01', '--to', '2026-02-03'],
  rebuild: () => [],
  doctor: () => [],
  status: () => [],
  query: () => ['from dim_user'],
  tables: () => [],
  export: () => ['csv'],
  verify: () => ['--days', '2'],
  rollback: () => ['--list'],
  'controls list': () => [],
  'controls show': () => ['latest'],
  'controls diff': () => ['latest'],
  'limits list': () => [],
  'limits set': ({ email }) => [email, '10', '--yes'],
  'limits set-global': () => ['1000', '--yes'],
  'limits remove': ({ email }) => [email, '--yes'],
  'readiness list': () => [],
  'readiness show': () => ['latest'],
  'computers list': () => [],
  'computers show': () => ['build-farm'],
  'computers metrics': () => ['build-farm'],
  'computers install-deps': () => ['build-farm', '--yes'],
  'computers refresh': () => ['build-farm', '--yes'],
  'computers restart': () => ['build-farm', '--yes'],
  'computers wait': () => ['build-farm', '--timeout', '1s'],
  'computers delete': () => ['build-farm', '--dry-run'],
  'sessions show': ({ session }) => [session],
  'sessions update': ({ session }) => [session, '--tag', 'x', '--yes'],
  'sessions interrupt': ({ session }) => [session, '--yes'],
  'sessions watch': ({ session }) => [session, '--timeout', '1s'],
  'messages show': ({ session, message }) => [session, message],
  'hooks install': () => ['--settings', 'settings.json'],
  'hooks status': () => ['--settings', 'settings.json'],
  'hooks test': () => ['nowhere'],
  'hooks flush': () => [],
  'hooks uninstall': () => ['--settings', 'settings.json'],
  'hooks run': null,
  emulate: null,
  demo: null,
}

/** Every command with its arguments. @throws Error when the program has one that is not listed here. */
export async function everyCommand(named: Named): Promise<string[][]> {
  const listed = new Set(Object.keys(ARGUMENTS))
  const known = await commandNames()
  const different = [...known.filter((name) => !listed.delete(name)), ...listed]
  if (different.length > 0) throw new Error(`not listed, or no command: ${different.join(', ')}`)
  return Object.entries(ARGUMENTS).flatMap(([name, argumentsOf]) =>
    argumentsOf === null ? [] : [[...name.split(' '), ...argumentsOf(named)]],
  )
}

/** The names that the program knows, from its own help: `run`, `controls list` … */
async function commandNames(): Promise<string[]> {
  const names = await namesIn([])
  const inner = await Promise.all(names.map((name) => namesIn([name])))
  return names.flatMap((name, index) => {
    const subcommands = inner[index] ?? []
    return subcommands.length === 0 ? [name] : subcommands.map((each) => `${name} ${each}`)
  })
}

async function namesIn(path: readonly string[]): Promise<string[]> {
  const parser: Argv = yargs().scriptName('cli').exitProcess(false).wrap(null)
  const terminal = quietTerminal({}, '/')
  for (const register of COMMANDS) register(parser, { terminal, done: () => undefined })
  let help = ''
  await parser.parseAsync([...path, '--help'], {}, (_error, _flags, output) => {
    help = output
  })
  const begin = ['cli', ...path, ''].join(' ')
  const [, commands = ''] = /^Commands:\n((?:[^\n]+\n)+)/m.exec(help) ?? []
  return commands
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith(begin))
    .map((line) => line.slice(begin.length).split(/\s/)[0] ?? '')
}

function quietTerminal(environment: Readonly<Record<string, string>>, cwd: string) {
  const nothing = (): void => undefined
  const screen = { isTty: false, columns: 100, outWidth: undefined, hasColour: false }
  return { out: nothing, err: nothing, draw: nothing, ...screen, ask: null, environment, cwd }
}

export interface Shown {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command as its `main` does, on a terminal with colours. */
export async function onTerminal(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Shown> {
  let [out, err] = ['', '']
  const code = await program(args, {
    ...quietTerminal(environment, cwd),
    out: (text) => (out += text),
    err: (text) => (err += text),
    isTty: true,
    hasColour: true,
    outWidth: 100,
  })
  return { code, out, err }
}
