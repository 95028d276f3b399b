import { lstat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { listIfThere, orIfMissing } from '../lib/files.ts'
import { ok, warning, type Finding } from './finding.ts'

const LISTED = 3

/** Tracked lookups and what keeps the folder out of repositories: no secrets. */
const OPEN_TO_ALL: ReadonlySet<string> = new Set(['.gitignore', 'seeds'])

/**
 * Whether files and folders let in whom the mask keeps out, as those that an earlier
 * version made, or that were copied here.
 */
export async function checkPermissions(dataFolder: string, umask: number): Promise<Finding[]> {
  if (process.platform === 'win32') return []
  const wide: string[] = []
  await collect(dataFolder, dataFolder, umask, wide)
  if (wide.length === 0) return [ok('permissions', `${who(umask)} can read the data folder`)]
  const more = wide.length > LISTED ? ` and ${wide.length - LISTED} more` : ''
  return [
    warning(
      'permissions',
      `more than ${who(umask)} can reach ${wide.slice(0, LISTED).join(', ')}${more}`,
      `To close them: chmod -R ${closing(umask)} '${dataFolder.replaceAll("'", `'\\''`)}'. A group may be let in with AGENT_WAREHOUSE_UMASK=027, or umask: 027 in the configuration`,
    ),
  ]
}

/** What is deleted meanwhile is passed over: a run may be under way. */
async function collect(
  dataFolder: string,
  path: string,
  umask: number,
  wide: string[],
): Promise<void> {
  const status = await orIfMissing(lstat(path), undefined)
  if (status === undefined || status.isSymbolicLink()) return
  const mode = status.mode & 0o777
  const name = relative(dataFolder, path)
  if (OPEN_TO_ALL.has(name)) return
  if ((mode & umask) !== 0)
    wide.push(`${name || dataFolder} (${mode.toString(8).padStart(3, '0')})`)
  if (!status.isDirectory()) return
  for (const entry of await listIfThere(path)) {
    await collect(dataFolder, join(path, entry.name), umask, wide)
  }
}

function who(umask: number): string {
  return (umask & 0o070) === 0o070 ? 'its owner alone' : 'its owner and group alone'
}

/** The mask as chmod's words: `g-rwx,o-rwx`. */
function closing(umask: number): string {
  return (['g', 'o'] as const)
    .map((of) => `${of}-${letters(of === 'g' ? (umask >> 3) & 7 : umask & 7)}`)
    .filter((clause) => clause.length > 2)
    .join(',')
}

function letters(bits: number): string {
  return `${(bits & 4) === 0 ? '' : 'r'}${(bits & 2) === 0 ? '' : 'w'}${(bits & 1) === 0 ? '' : 'x'}`
}
