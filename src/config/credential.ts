import { spawnSync } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { commandEnvironment } from '../lib/trust.ts'
import { messageOf, UsageError } from '../lib/errors.ts'

/** Where an API key or JWT is: never in the configuration itself. */
export type KeySource =
  | { readonly kind: 'variable'; readonly variable: string }
  /** `named`: the variable or setting that names the file. */
  | { readonly kind: 'file'; readonly path: string; readonly named: string }
  | { readonly kind: 'command'; readonly argv: readonly string[]; readonly folder: string }

export interface Credential {
  readonly key: string
  /** What a person should know of it and nothing else says; null where there is nothing. */
  readonly warning: string | null
}

type Environment = Readonly<Record<string, string | undefined>>

/** A password manager may have to be unlocked; it waits no longer than this. */
const COMMAND_TIMEOUT_MS = 30_000

/** No key is longer. */
const MAX_BYTES = 64 * 1024

/** Readable or writable by anyone but the owner and the group. */
const OTHERS = 0o006

/** Names the source, never what it holds: `AGENT_API_KEY`. */
export function describeSource(source: KeySource): string {
  switch (source.kind) {
    case 'variable':
      return source.variable
    case 'file':
      return `${source.named} (${source.path})`
    case 'command':
      return `key_command (${source.argv[0] ?? ''})`
  }
}

/** True when the source can be asked: a variable that is not set cannot. */
export function readCredential(
  source: KeySource,
  environment: Environment,
  hint: string,
): Credential {
  const { text, warning } = textOf(source, environment, hint)
  const key = text.trim()
  const what = describeSource(source)
  if (key === '') throw new UsageError(`no API key: ${what} is empty`, { hint })
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError(`the API key of ${what} has characters that no key has`, { hint })
  }
  return { key, warning }
}

interface Text {
  readonly text: string
  readonly warning: string | null
}

function textOf(source: KeySource, environment: Environment, hint: string): Text {
  switch (source.kind) {
    case 'variable': {
      const text = environment[source.variable]?.trim() ?? ''
      if (text !== '') return { text, warning: null }
      throw new UsageError(`no API key: ${source.variable} is not set`, { hint })
    }
    case 'file':
      return fileText(source)
    case 'command':
      return { text: commandText(source, environment), warning: null }
  }
}

function fileText({ path, named }: Extract<KeySource, { kind: 'file' }>): Text {
  const what = `${named}: ${path}`
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const status = fstatSync(file)
    if (status.isDirectory()) throw new UsageError(`${what} is a folder, not a file with a key`)
    if (status.size > MAX_BYTES) throw new UsageError(`${what} is too large to be a key`)
    const isOpen = process.platform !== 'win32' && (status.mode & OTHERS) !== 0
    const warning = isOpen ? `${what} can be read by other users: chmod 600 ${path}` : null
    return { text: readFileSync(file, 'utf8'), warning }
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`${what} cannot be read: ${messageOf(cause)}`, { cause })
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Without a shell, in a minimal environment; what it prints is in no message. */
function commandText(
  { argv, folder }: Extract<KeySource, { kind: 'command' }>,
  environment: Environment,
): string {
  const [program = '', ...args] = argv
  const { status, signal, error, stdout } = spawnSync(program, args, {
    cwd: folder,
    env: commandEnvironment(environment),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: COMMAND_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_BYTES,
    windowsHide: true,
  })
  const how = endOf(status, signal, error)
  if (how === undefined) return stdout
  throw new UsageError(`key_command: '${program}' ${how}`, {
    hint: 'Run it yourself to see what it says. It is run without a shell, with PATH, HOME and the like alone in its environment.',
  })
}

function endOf(
  status: number | null,
  signal: NodeJS.Signals | null,
  error: NodeJS.ErrnoException | undefined,
): string | undefined {
  switch (error?.code) {
    case undefined:
      break
    case 'ENOENT':
      return 'is not a program on this machine'
    case 'ETIMEDOUT':
      return `did not end within ${COMMAND_TIMEOUT_MS / 1000} s`
    case 'ENOBUFS':
      return 'prints more than a key'
    default:
      return `cannot be run (${error?.code ?? ''})`
  }
  if (status === 0) return undefined
  return signal === null ? `ended with ${status ?? 'nothing'}` : `was ended by ${signal}`
}
