import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { program } from '../../src/cli/program.ts'
import { MAIN, type Outcome } from '../support/command.ts'
import { MACHINE } from '../support/machine.ts'
import { registered } from './registry.ts'

/** Ids and names for arguments. */
export interface Named {
  readonly session: string
  readonly message: string
  readonly email: string
  /** The message in an agent's hook event. */
  readonly text: string
}

/** A command and its arguments, and how it is run: inside the test, or as a process. */
export interface Invocation {
  readonly args: readonly string[]
  /** For a process: standard input, and the output after which it is interrupted. */
  readonly process?: { readonly input: string; readonly until?: string }
  /** It starts its own platform. */
  readonly isAlone?: true
}

/** Arguments of every command, in an order in which each finds what it needs. */
const ARGUMENTS: Readonly<Record<string, (named: Named) => readonly string[]>> = {
  plan: () => [],
  sync: () => ['--from', '2026-02-01', '--to', '2026-02-02'],
  run: () => ['--from', '2026-02-01', '--to', '2026-02-03'],
  build: () => [],
  rebuild: () => [],
  doctor: () => [],
  status: () => [],
  query: () => ['from dim_user'],
  tables: () => [],
  export: () => ['csv'],
  report: () => [],
  docs: () => [],
  verify: () => ['--days', '2'],
  rollback: () => ['--list'],
  compact: () => [],
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
  'hooks run': () => [],
  emulate: () => ['--port', '0', '--app-port', '0', '--users', '2'],
  demo: () => ['--data', 'demo', '--users', '2'],
}

/** How to run a command that ends its process, or does not end by itself. */
const MANNERS: Readonly<Record<string, (named: Named) => Omit<Invocation, 'args'>>> = {
  'hooks run': ({ session, text }) => ({
    process: {
      input: JSON.stringify({ hook_event_name: 'Stop', session_id: session, message: text }),
    },
  }),
  emulate: () => ({ process: { input: '', until: 'Ctrl-C' }, isAlone: true }),
  demo: () => ({ isAlone: true }),
}

/** Every command, as a test runs it. @throws Error when the program has one that is not listed here. */
export async function everyCommand(named: Named): Promise<Invocation[]> {
  const listed = new Set(Object.keys(ARGUMENTS))
  const known = (await registered()).map(({ name }) => name)
  const different = [...known.filter((name) => !listed.delete(name)), ...listed]
  if (different.length > 0) throw new Error(`not listed, or no command: ${different.join(', ')}`)
  return Object.entries(ARGUMENTS).map(([name, argumentsOf]) => ({
    args: [...name.split(' '), ...argumentsOf(named)],
    ...MANNERS[name]?.(named),
  }))
}

/** Commands that, as long as nothing has landed, show no answer, or no other than `sync` shows. */
const APART = new Set(['run', 'build', 'rebuild', 'docs', 'hooks'])

/** True for a command to run on a platform from which nothing lands. */
export function asksOrReads({ isAlone, args: [name = ''] }: Invocation): boolean {
  return isAlone !== true && !APART.has(name)
}

/** Runs a command as its `main` does, on a terminal with colours. */
export async function onTerminal(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Outcome> {
  let [out, err] = ['', '']
  const code = await program(args, {
    out: (text) => (out += text),
    err: (text) => (err += text),
    isTty: true,
    columns: () => 100,
    outWidth: 100,
    hasColour: true,
    ask: null,
    environment: { ...MACHINE, ...environment },
    cwd,
    now: () => Date.now(),
  })
  return { code, out, err }
}

/** Runs a command on a terminal with colours, or as a process. */
export async function run(
  { args, process: manner }: Invocation,
  environment: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Outcome> {
  return manner === undefined
    ? onTerminal(args, environment, cwd)
    : asProcess(args, manner, environment, cwd)
}

function asProcess(
  args: readonly string[],
  { input, until }: NonNullable<Invocation['process']>,
  environment: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Outcome> {
  const env = { PATH: process.env['PATH'] ?? '', ...MACHINE, ...environment }
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    if (until !== undefined && out.includes(until)) child.kill('SIGINT')
  })
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ code: code ?? -1, out, err })
    })
  })
}
