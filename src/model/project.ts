import { readdir, readFile } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { isMissing } from '../store/files.ts'
import { ProjectError } from './errors.ts'
import { folderConfigs, type FolderConfig } from './folders.ts'
import { unknownName } from './nearest.ts'
import { modelNotes, settle, sourcesOf, type ModelNote } from './properties.ts'
import { projectShape, propertiesShape } from './shapes.ts'
import type { Model, Project, SingularTest, Source } from './types.ts'
import { readYaml } from './yaml.ts'

const PROJECT_FILE = 'dbt_project.yml'

/**
 * Reads a dbt project: `dbt_project.yml`, the models with their yml, the
 * sources and the singular tests. Everything is checked that can be without
 * rendering; the value is frozen.
 *
 * @throws UsageError when there is no project; ProjectError with file and line
 * for a model without a yml, a yml without its model, an unknown key, bad YAML.
 */
export async function loadProject(folder: string): Promise<Project> {
  const { value: project, placeOf } = await readYaml(folder, PROJECT_FILE, projectShape)
  const found = await under(folder, project['model-paths'])
  const notes: ModelNote[] = []
  const sources: Source[] = []
  for (const file of found.files.filter(isYml)) {
    const properties = await readYaml(folder, file, propertiesShape)
    notes.push(...modelNotes(properties))
    sources.push(...sourcesOf(properties))
  }
  const folders = folderConfigs(project.models, project.name, placeOf)
  const models = await modelsOf(folder, found, notes, folders)
  refuseTwice(sources)
  refuseIdleFolders(folders, models, found.root)
  return freeze({
    name: project.name,
    folder,
    vars: varsOf(project.vars, project.name),
    models,
    sources,
    tests: await testsOf(folder, project['test-paths']),
  })
}

interface Found {
  /** Relative to the project's folder, sorted. */
  readonly files: readonly string[]
  /** The path that a file was found under. */
  readonly root: (file: string) => string
}

async function under(folder: string, paths: readonly string[]): Promise<Found> {
  const lists = await Promise.all(paths.map((path) => listFiles(folder, path)))
  return {
    files: lists.flat().sort(),
    root: (file) => paths.find((path) => file.startsWith(`${path}/`)) ?? '',
  }
}

async function listFiles(folder: string, path: string): Promise<string[]> {
  try {
    const entries = await readdir(join(folder, path), { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function modelsOf(
  folder: string,
  found: Found,
  notes: readonly ModelNote[],
  folders: readonly FolderConfig[],
): Promise<Model[]> {
  const byName = notesByName(notes)
  const models = new Map<string, Model>()
  for (const file of found.files.filter(isSql)) {
    const name = basename(file, '.sql')
    const twin = models.get(name)
    if (twin !== undefined) {
      throw new ProjectError({ file }, `there is another model '${name}': ${twin.file}`)
    }
    const note = byName.get(name)
    if (note === undefined) throw undocumented(file, name)
    const configs = folders.filter((config) => covers(config, pathOf(file, found.root(file))))
    models.set(name, {
      name,
      file,
      template: await readFile(join(folder, file), 'utf8'),
      description: note.description,
      config: settle([...configs.map((each) => each.config), note.config]),
      columns: note.columns,
      tests: note.tests,
      documented: note.place,
    })
  }
  for (const note of notes) {
    if (!models.has(note.name)) throw unknownName(note.place, 'model', note.name, models.keys())
  }
  return [...models.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function notesByName(notes: readonly ModelNote[]): Map<string, ModelNote> {
  const byName = new Map<string, ModelNote>()
  for (const note of notes) {
    if (byName.has(note.name)) {
      throw new ProjectError(note.place, `model '${note.name}' is documented twice`)
    }
    byName.set(note.name, note)
  }
  return byName
}

function refuseTwice(sources: readonly Source[]): void {
  const names = sources.map((source) => source.name)
  const twin = sources.find((source, index) => names.indexOf(source.name) < index)
  if (twin !== undefined) {
    throw new ProjectError(twin.place, `source '${twin.name}' is described twice`)
  }
}

function undocumented(file: string, name: string): ProjectError {
  return new ProjectError({ file }, `model '${name}' has no yml`, {
    hint: `Describe the model and its columns in ${file.replace(/\.sql$/, '.yml')}.`,
  })
}

/** The folders of a model below its model path, and its name. */
function pathOf(file: string, root: string): string[] {
  return file.slice(root.length + 1, -'.sql'.length).split('/')
}

function covers(config: FolderConfig, path: readonly string[]): boolean {
  return config.path.every((step, index) => path[index] === step)
}

function refuseIdleFolders(
  folders: readonly FolderConfig[],
  models: readonly Model[],
  root: Found['root'],
): void {
  const paths = models.map((model) => pathOf(model.file, root(model.file)))
  for (const config of folders) {
    if (paths.some((path) => covers(config, path))) continue
    const known = new Set(paths.flatMap((path) => path.slice(0, -1)))
    throw unknownName(config.place, 'folder', config.path.join('/'), known)
  }
}

/** Tests in a folder `generic` are macros for dbt; ours are in `sql/checks`. */
async function testsOf(folder: string, paths: readonly string[]): Promise<SingularTest[]> {
  const { files } = await under(folder, paths)
  const statements = files.filter((file) => isSql(file) && !file.includes('/generic/'))
  return Promise.all(
    statements.map(async (file) => ({
      name: basename(file, '.sql'),
      file,
      template: await readFile(join(folder, file), 'utf8'),
    })),
  )
}

/** dbt allows a project's vars at the top and under its name. */
function varsOf(vars: Readonly<Record<string, unknown>>, project: string): Record<string, unknown> {
  const { [project]: own, ...shared } = vars
  return { ...shared, ...(typeof own === 'object' ? own : {}) }
}

function isYml(file: string): boolean {
  return file.endsWith('.yml') || file.endsWith('.yaml')
}

function isSql(file: string): boolean {
  return file.endsWith('.sql')
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const item of Object.values(value)) freeze(item)
  return value
}
