import { basename, join } from 'node:path'
import { listIfThere } from '../../lib/files.ts'
import { readCsv } from './csv.ts'
import { ProjectError } from './errors.ts'
import { covers, type FolderConfig } from './folders.ts'
import { suggestion } from '../../lib/text.ts'
import { unknownName } from './errors.ts'
import { settle, type SeedNote } from './properties.ts'
import type { Seed, SeedFile } from './types.ts'

/** Whose files are read. Default: the project's. */
export interface SeedChoice {
  /** A folder with the user's own files, which are read instead of the project's of that name. */
  readonly seedFolder?: string
  /** Files there that are another's, by their names without `.csv`. */
  readonly notSeeds?: readonly string[]
  /** Told of a file there that is no seed's. */
  readonly warn?: (message: string) => void
}

interface SeedOptions extends SeedChoice {
  /** The project's folder. */
  readonly folder: string
}

/** A CSV file of the project: its path below the project's folder, and below its seed path. */
export interface SeedPath {
  readonly file: string
  readonly path: readonly string[]
}

/**
 * The seeds of the CSV files, each with its yml. A file in the user's folder
 * that is no seed's is reported.
 *
 * @throws ProjectError for a seed without a yml, a yml without its seed, and a
 * file that does not begin with the columns of its yml.
 */
export async function seedsOf(
  files: readonly SeedPath[],
  notes: readonly SeedNote[],
  folders: readonly FolderConfig[],
  options: SeedOptions,
): Promise<Seed[]> {
  const own = await ownFiles(options, new Set(files.map(({ file }) => nameOf(file))))
  const seeds: Seed[] = []
  for (const { file, path } of files) {
    const name = nameOf(file)
    const note = notes.find((each) => each.name === name)
    if (note === undefined) throw undocumented(file, name)
    const configs = folders.filter((config) => covers(config, path))
    const { schema, tags, meta } = settle([...configs.map(({ config }) => config), note.config])
    const { description, columns, tests, types, place: documented } = note
    const ownPath = own.get(name)
    const csv = await readCsv(ownPath ?? join(options.folder, file), ownPath ?? file)
    compareHeader(csv, note)
    const config = { schema, tags, meta }
    seeds.push({ name, file, description, columns, tests, documented, config, types, csv })
  }
  const known = seeds.map(({ name }) => name)
  for (const { name, place } of notes) {
    if (!known.includes(name)) throw unknownName(place, 'seed', name, known)
  }
  return seeds
}

/** The user's files by the name of their seed. */
async function ownFiles(
  { seedFolder, notSeeds = [], warn }: SeedOptions,
  known: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  if (seedFolder === undefined) return found
  for (const entry of await listIfThere(seedFolder)) {
    if (!entry.name.toLowerCase().endsWith('.csv')) continue
    const name = nameOf(entry.name)
    if (notSeeds.includes(name)) continue
    const path = join(seedFolder, entry.name)
    if (known.has(name)) found.set(name, path)
    else warn?.(`${path} is not used: there is no seed '${name}'. ${suggestion(name, known)}`)
  }
  return found
}

function compareHeader({ header, place: file }: SeedFile, { columns }: SeedNote): void {
  const place = { file, line: 1 }
  const known = columns.map(({ name }) => name)
  for (const [index, name] of header.entries()) {
    if (!known.includes(name)) throw unknownName(place, 'column', name, known)
    if (header.indexOf(name) < index) {
      throw new ProjectError(place, `column '${name}' is there twice`)
    }
  }
  const lacking = columns.find(({ name, meta }) => !header.includes(name) && !isOptional(meta))
  if (lacking === undefined) return
  throw new ProjectError(place, `column '${lacking.name}' is missing`, {
    hint: `${lacking.name}: ${lacking.description}`,
  })
}

/** `config.meta.optional`: a file without the column is as one with nothing in it. */
function isOptional(meta: Readonly<Record<string, unknown>>): boolean {
  return meta['optional'] === true
}

function nameOf(file: string): string {
  return basename(file).replace(/\.csv$/i, '')
}

function undocumented(file: string, name: string): ProjectError {
  return new ProjectError({ file }, `seed '${name}' has no yml`, {
    hint: `Describe the seed and its columns in ${file.replace(/\.csv$/i, '.yml')}.`,
  })
}
