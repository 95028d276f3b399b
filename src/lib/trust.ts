import { UsageError, messageOf } from './errors.ts'
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs'
import { dirname } from 'node:path'
import { utf8Text } from './csv.ts'
import { codeOf, isMissing } from './files.ts'
import { shellWord } from './text.ts'

/** Whether a host is this machine itself. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/.test(host)
}

/** Whether a secret may be sent to the URL: over https, or to this machine. */
export function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/**
 * Checks an address that a key is sent to, and removes trailing slashes.
 *
 * @throws UsageError for anything but https (plain http on loopback), and for a
 *   user, a query or a fragment.
 */
export function addressOf(text: string, what: string, hint: string): string {
  // the value is not quoted: it may be a key in the wrong variable, or hold a password
  if (!URL.canParse(text)) throw new UsageError(`${what} is not a URL`, { hint })
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${what} must consist of a host and a path only`, { hint })
  }
  if (!isSafe(url)) {
    const shown = url.protocol === 'http:' ? `: '${text}'` : ''
    throw new UsageError(`${what}${shown} is not https`, {
      hint: `A key is sent over https only; plain http is for loopback addresses. ${hint}`,
    })
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

export type Environment = Readonly<Record<string, string | undefined>>

/** A program needs these to be found, and to know its user and their language. */
const GENERAL = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR']

/** A program needs these to reach the screen and the speakers of the user. */
const DESKTOP = [
  ...['DISPLAY', 'XAUTHORITY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'],
  ...['XDG_CURRENT_DESKTOP', 'PULSE_SERVER', 'PIPEWIRE_REMOTE'],
]

/** Without these no program starts on Windows. */
const WINDOWS = [
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'TEMP', 'TMP'],
  ...['USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
]

const PASSED = new Set([...GENERAL, ...DESKTOP, ...WINDOWS])

/**
 * The environment of a program that the configuration names: enough to run and to
 * reach the desktop, without keys, passwords and other variables of this process.
 * Variables whose names match `others` are passed too.
 */
export function commandEnvironment(
  environment: Environment,
  others?: RegExp,
): Record<string, string> {
  const isPassed = (name: string): boolean =>
    PASSED.has(name.toUpperCase()) || /^LC_/i.test(name) || others?.test(name) === true
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && isPassed(name) ? [[name, value] as const] : [],
    ),
  )
}

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
const STICKY = 0o1000

/**
 * The text of a file that decides where keys are sent and which programs run; undefined
 * if there is none.
 *
 * @throws UsageError if other users can write or replace it, it is not UTF-8, or it cannot be read.
 */
export function readTrusted(path: string, what: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const status = fstatSync(file)
    if (status.isDirectory()) throw new UsageError(`${what} ${path} is a folder, not a file`)
    const reader = process.getuid?.()
    const problem = reader === undefined ? undefined : distrustOf(status, path, reader)
    if (problem !== undefined) {
      throw new UsageError(`${what} ${path} ${problem.why}`, { hint: problem.fix })
    }
    if (reader !== undefined) refuseReplaceable(path, what, reader)
    return utf8Text(readFileSync(file), path)
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    // ENOTDIR: a folder of the path is a file
    if (isMissing(cause) || codeOf(cause) === 'ENOTDIR') return undefined
    throw new UsageError(`${what} ${path} cannot be read: ${messageOf(cause)}`, { cause })
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Refuses a file that other users can replace, because they can write in its folder or
 * in one above it, unless the sticky bit prevents it. A group that can write is refused
 * only at the folder itself: above it, groups belong to the system.
 *
 * @throws UsageError
 */
function refuseReplaceable(path: string, what: string, reader: number): void {
  const own = dirname(realpathSync(path))
  for (let folder = own; ; folder = dirname(folder)) {
    const { uid, gid, mode: all } = statSync(folder)
    const mode = (all & STICKY) === 0 ? all : all & ~(GROUP_WRITES | OTHERS_WRITE)
    const above = { uid: reader, gid: reader, mode: mode & OTHERS_WRITE }
    const problem = distrustOf(folder === own ? { uid, gid, mode } : above, folder, reader)
    if (problem !== undefined) {
      const why = `is in the folder ${folder}, which ${problem.why}`
      throw new UsageError(`${what} ${path} ${why}`, { hint: problem.fix })
    }
    if (dirname(folder) === folder) return
  }
}

/**
 * Why a file is not trusted: another user owns it or can write it. The owner's private
 * group, which has the owner's number, may write. `reader`: the user that reads it.
 */
export function distrustOf(
  { uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  path: string,
  reader: number,
): { readonly why: string; readonly fix: string } | undefined {
  if (uid !== 0 && uid !== reader) {
    return {
      why: `is owned by another user (uid ${uid}), who can change it`,
      fix: `Check its content, then: chown ${reader} ${shellWord(path)}`,
    }
  }
  const isShared = (mode & GROUP_WRITES) !== 0 && gid !== uid
  if (!isShared && (mode & OTHERS_WRITE) === 0) return undefined
  const writers = (mode & OTHERS_WRITE) === 0 ? 'its group' : 'every user of this machine'
  return { why: `can be changed by ${writers}`, fix: `chmod go-w ${shellWord(path)}` }
}

export const OWNER_ONLY = 0o077

/** The value of an environment variable; an empty one counts as not set. */
export function setting(environment: Environment, name: string): string | undefined {
  const text = environment[name]?.trim()
  return text === '' ? undefined : text
}

/**
 * The mask in `AGENT_WAREHOUSE_UMASK`, which may grant access to a group and to no other
 * user (`027`: the group reads); undefined for any other value.
 */
export function umaskOf(environment: Environment): number | undefined {
  const text = setting(environment, 'AGENT_WAREHOUSE_UMASK')
  return text === undefined ? OWNER_ONLY : maskOf(text)
}

/**
 * The mask of the environment, else of the configuration at `path`, else OWNER_ONLY.
 * `inFile`: digits as YAML reads them, where `027` is the number 27; they are still octal.
 *
 * @throws UsageError for a mask that grants access to more than a group.
 */
export function configuredUmask(
  environment: Environment,
  path: string,
  inFile: string | number | undefined,
): number {
  const variable = setting(environment, 'AGENT_WAREHOUSE_UMASK')
  if (variable !== undefined) return required(variable, 'AGENT_WAREHOUSE_UMASK')
  return inFile === undefined ? OWNER_ONLY : required(String(inFile).trim(), `${path} umask`)
}

function required(text: string, where: string): number {
  const mask = maskOf(text)
  if (mask !== undefined) return mask
  const problem = 'is not a mask that denies access to everyone but owner and group'
  throw new UsageError(`${where}: '${text}' ${problem}`, {
    hint: 'For example 027: the group can read. The default is 077: only the owner can read.',
  })
}

function maskOf(text: string): number | undefined {
  return /^0{0,2}[0-7]7$/.test(text) ? Number.parseInt(text, 8) : undefined
}
