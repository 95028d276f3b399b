import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { AppError, messageOf, UsageError } from '../../lib/errors.ts'
import { confirmLease } from '../../lib/fence.ts'
import {
  makeFolder,
  nameOfTemporary,
  readJson,
  temporaryPath,
  listIfThere,
  syncFolder,
} from '../../lib/files.ts'

/** Every folder of an export holds this file, which is written last. */
export const MANIFEST = 'manifest.json'

/**
 * Replaces a folder as a whole: `fill` writes into a temporary folder, which then
 * replaces `path` by renames. Readers see the old folder, the new one, or for an instant
 * neither. Files that no export wrote are kept. First repairs what a killed call left. Calls must
 * not overlap.
 *
 * @throws UsageError if `path` holds files but no manifest, because no export made it.
 */
export async function replaceFolder<T>(
  path: string,
  fill: (temporary: string) => Promise<T>,
): Promise<T> {
  makeFolder(dirname(path))
  await finishSwap(path)
  await requireOurs(path)
  const temporary = temporaryPath(path)
  try {
    await mkdir(temporary)
    const filled = await fill(temporary)
    await syncFolder(temporary)
    await swap(temporary, path)
    return filled
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw error
  }
}

/**
 * After a crash: restores the old folder if no new one replaced it, and deletes what else the
 * export left. The old folder is complete, because it is only deleted after the new one is in
 * place.
 */
async function finishSwap(path: string): Promise<void> {
  const names = await namesIn(dirname(path))
  const previous = previousOf(path)
  if (names.includes(basename(previous))) {
    if (names.includes(basename(path))) await removePrevious(path)
    else await rename(previous, path)
  }
  const leftovers = names.filter((name) => nameOfTemporary(name) === basename(path))
  for (const name of leftovers) await rm(join(dirname(path), name), { recursive: true })
}

async function swap(temporary: string, path: string): Promise<void> {
  const replaces = (await namesIn(dirname(path))).includes(basename(path))
  confirmLease(path)
  try {
    if (replaces) await rename(path, previousOf(path))
    await rename(temporary, path).catch(async (error: unknown) => {
      if (replaces) await rename(previousOf(path), path)
      throw error
    })
  } catch (error) {
    throw new AppError(`${path} cannot be replaced: ${messageOf(error)}`, {
      hint: 'The old files stay in place. Close the programs that have them open, then export again.',
      cause: error,
    })
  }
  await syncFolder(dirname(path))
  await removePrevious(path)
}

const manifestShape = z.object({ tables: z.array(z.object({ file: z.string() })) })

/**
 * Moves what no export wrote into the new folder, and deletes the rest of the old one. Without a
 * manifest, a killed call has moved it already and was deleting.
 */
async function removePrevious(path: string): Promise<void> {
  const previous = previousOf(path)
  const names = await namesIn(previous)
  const found = manifestShape.safeParse(await readJson(join(previous, MANIFEST), () => undefined))
  const exported = (found.data?.tables ?? []).map(({ file }) => file)
  const known = new Set([MANIFEST, ...exported, ...(await namesIn(path))])
  for (const name of names.includes(MANIFEST) ? names : []) {
    if (!known.has(name)) await rename(join(previous, name), join(path, name))
  }
  await syncFolder(path)
  await rm(previous, { recursive: true, force: true })
}

async function requireOurs(path: string): Promise<void> {
  const names = await namesIn(path)
  if (names.length === 0 || names.includes(MANIFEST)) return
  throw new UsageError(`${path} contains files but no ${MANIFEST}, so it is not an export`, {
    hint: 'Move these files away, then export again: an export could replace them.',
  })
}

/** Starts with a dot, so that globs skip it. */
function previousOf(path: string): string {
  return join(dirname(path), `.previous-${basename(path)}`)
}

async function namesIn(folder: string): Promise<string[]> {
  return (await listIfThere(folder)).map((entry) => entry.name)
}
