import { UsageError } from './errors.ts'

/** Files are their owner's alone. */
export const OWNER_ONLY = 0o077

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The mask that `AGENT_WAREHOUSE_UMASK` names, which may open files to a group and
 * to no other user (`027`: the group reads); undefined where it is no such mask.
 */
export function umaskOf(environment: Environment): number | undefined {
  const text = environment['AGENT_WAREHOUSE_UMASK']?.trim() ?? ''
  return text === '' ? OWNER_ONLY : maskOf(text)
}

/**
 * The mask that the environment names, else the configuration at `path`, else the owner's alone.
 * `inFile`: digits as YAML reads them, where `027` is the number 27; they are octal all the same.
 *
 * @throws UsageError for one that lets in more than a group.
 */
export function configuredUmask(
  environment: Environment,
  path: string,
  inFile: string | number | undefined,
): number {
  const variable = environment['AGENT_WAREHOUSE_UMASK']?.trim() ?? ''
  if (variable !== '') return required(variable, 'AGENT_WAREHOUSE_UMASK')
  return inFile === undefined ? OWNER_ONLY : required(String(inFile).trim(), `${path} umask`)
}

function required(text: string, where: string): number {
  const mask = maskOf(text)
  if (mask !== undefined) return mask
  throw new UsageError(`${where}: '${text}' is not a mask that keeps all but owner and group out`, {
    hint: 'For example 027: the group may read. Without it files are their owner’s alone (077).',
  })
}

function maskOf(text: string): number | undefined {
  return /^0{0,2}[0-7]7$/.test(text) ? Number.parseInt(text, 8) : undefined
}
