import { spawnSync } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { commandEnvironment, type Environment } from '../lib/trust.ts'
import { messageOf, UsageError } from '../lib/errors.ts'
import { REDACTED } from '../lib/secrets/known-secrets.ts'
import { withoutKnownForms } from '../lib/secrets/secret-forms.ts'
import { shellWord } from '../lib/text.ts'

/** The place of an API key or JWT, which is never in the configuration itself. */
export type KeySource =
  | { readonly kind: 'variable'; readonly variable: string }
  /** `named`: the variable or setting that names the file. */
  | { readonly kind: 'file'; readonly path: string; readonly named: string }
  | { readonly kind: 'command'; readonly argv: readonly string[]; readonly folder: string }

/** Enough time to unlock a password manager. */
const COMMAND_TIMEOUT_MS = 30_000

const MAX_BYTES = 64 * 1024

/** Readable or writable by anyone but the owner and the group. */
const OTHERS = 0o006

/** Names the source, such as `AGENT_API_KEY`, never the key. */
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

/**
 * Reads the key. `warning`: a warning about how the key is kept, or null.
 *
 * @throws UsageError if the source holds none.
 */
export function readCredential(source: KeySource, environment: Environment, hint: string) {
  const { key, warning } = read(source, environment)
  const what = describeSource(source)
  if (key === '') {
    const isUnset = source.kind === 'variable'
    throw new UsageError(`no API key: ${what} is ${isUnset ? 'not set' : 'empty'}`, { hint })
  }
  if (/^[\x21-\x7e]+$/.test(key)) return { key, warning }
  throw new UsageError(`the API key of ${what} contains characters that a key cannot contain`, {
    hint,
  })
}

function read(source: KeySource, environment: Environment) {
  switch (source.kind) {
    case 'variable':
      return { key: environment[source.variable]?.trim() ?? '', warning: null }
    case 'file':
      return keyInFile(source)
    case 'command':
      return { key: keyOfCommand(source, environment), warning: null }
  }
}

function keyInFile({ path, named }: Extract<KeySource, { kind: 'file' }>) {
  const what = `${named}: ${path}`
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const status = fstatSync(file)
    if (status.isDirectory()) throw new UsageError(`${what} is a folder, not a file with a key`)
    if (status.size > MAX_BYTES) throw new UsageError(`${what} is too large to be a key`)
    const isOpen = process.platform !== 'win32' && (status.mode & OTHERS) !== 0
    const warning = isOpen
      ? `${what} can be read by other users: chmod 600 ${shellWord(path)}`
      : null
    return { key: readFileSync(file, 'utf8').trim(), warning }
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    // instead of a path it may be the key; no cause, because it quotes the path too
    const message = `${what} cannot be read: ${messageOf(cause)}`
    const hint = 'Name a file with nothing but the key, which the user of this process can read.'
    throw new UsageError(
      withoutKnownForms(message, () => REDACTED),
      { hint },
    )
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Runs the command without a shell, in a minimal environment. No message quotes its output. */
function keyOfCommand(
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
  if (error === undefined && status === 0) return stdout.trim()
  const ended = signal === null ? `ended with ${status ?? 'nothing'}` : `was ended by ${signal}`
  const how = error === undefined ? ended : failureOf(error)
  throw new UsageError(`key_command: '${program}' ${how}`, {
    hint: 'Run it yourself to see its output. It runs without a shell, and its environment has only basic variables such as PATH and HOME.',
  })
}

function failureOf({ code = '' }: NodeJS.ErrnoException): string {
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'is not a program on this machine',
    ETIMEDOUT: `did not end within ${COMMAND_TIMEOUT_MS / 1000} s`,
    ENOBUFS: 'printed more than a key',
  }
  return known[code] ?? `cannot be run (${code})`
}
