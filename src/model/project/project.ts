import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join, relative, sep } from 'node:path'
import { isMissing } from '../../lib/files.ts'
import { readDocs, type DocBlock } from './docs.ts'
import { ProjectError, type Place } from './errors.ts'
import { covers, folderConfigs, testConfigOf, type FolderConfig } from './folders.ts'
import { unknownName } from './errors.ts'
import {
  modelNotes,
  seedNotes,
  settle,
  snapshotsOf,
  sourcesOf,
  unitTestsOf,
  type ModelNote,
  type SeedNote,
} from './properties.ts'
import { seedsOf, type SeedChoice } from './seeds.ts'
import { projectShape, propertiesShape, type ProjectFile, type TestConfig } from './shapes.ts'
import { readMacros, readTemplate, type Macros, type ParsedTemplate } from './template.ts'
import type { Model, Project, SingularTest, Snapshot, Source, UnitTest } from './types.ts'
import { readYaml, readYamls } from './yaml.ts'

const PROJECT_FILE = 'dbt_project.yml'

/**
 * Reads a dbt project: `dbt_project.yml`, the models and seeds with their yml,
 * the sources and the singular tests. Everything is checked that can be without
 * rendering; the value is frozen.
 *
 * @throws UsageError when there is no project; ProjectError with file and line
 * for a model without a yml, a yml without its model, an unknown key, bad YAML,
 * a template that cannot be read, a seed that does not begin with the columns
 * of its yml.
 */
export async function loadProject(folder: string, options: SeedChoice = {}): Promise<Project> {
  const { value: project, placeOf } = await readYaml(folder, PROJECT_FILE, projectShape)
  const found = await under(folder, project['model-paths'])
  const foundSeeds = await under(folder, project['seed-paths'])
  const testConfig = testConfigOf(project.data_tests, project.name, placeOf)
  const snapshotYmls = await under(folder, project['snapshot-paths'])
  const ymls = [...found.files, ...foundSeeds.files, ...snapshotYmls.files]
  const docs = await docsOf(folder, project)
  const notes = await notesOf(folder, ymls, docs, testConfig)
  const folders = folderConfigs('models', project.models, project.name, placeOf)
  const macros = await macrosOf(folder, project['macro-paths'])
  const models = await modelsOf(folder, found, notes.models, folders, macros)
  refuseIdleFolders(folders, models.map(pathIn(found)))
  const seedFolders = folderConfigs('seeds', project.seeds, project.name, placeOf)
  const csvs = foundSeeds.files
    .filter((file) => file.endsWith('.csv'))
    .map((file) => ({ file, path: pathIn(foundSeeds)({ file }) }))
  refuseIdleFolders(
    seedFolders,
    csvs.map(({ path }) => path),
  )
  const seeds = await seedsOf(csvs, notes.seeds, seedFolders, { folder, ...options })
  refuseSharedNames([...models, ...seeds, ...notes.snapshots])
  return freeze({
    name: project.name,
    folder,
    vars: varsOf(project.vars, project.name),
    models,
    seeds,
    snapshots: notes.snapshots,
    sources: notes.sources,
    tests: await testsOf(folder, project['test-paths'], macros),
    testConfig,
    unitTests: notes.unitTests,
    docs,
  })
}

interface Notes {
  readonly models: readonly ModelNote[]
  readonly seeds: readonly SeedNote[]
  readonly snapshots: readonly Snapshot[]
  readonly sources: readonly Source[]
  readonly unitTests: readonly UnitTest[]
}

/** What the yml files say, each of its own things. */
async function notesOf(
  folder: string,
  files: readonly string[],
  docs: readonly DocBlock[],
  testConfig: TestConfig,
): Promise<Notes> {
  const models: ModelNote[] = []
  const seeds: SeedNote[] = []
  const snapshots: Snapshot[] = []
  const sources: Source[] = []
  const unitTests: UnitTest[] = []
  for (const properties of await readYamls(folder, files.filter(isYml), propertiesShape, docs)) {
    models.push(...modelNotes(properties, testConfig))
    seeds.push(...seedNotes(properties, testConfig))
    snapshots.push(...snapshotsOf(properties, testConfig))
    sources.push(...sourcesOf(properties))
    unitTests.push(...unitTestsOf(properties))
  }
  refuseTwice('model', models)
  refuseTwice('seed', seeds)
  refuseTwice('source', sources)
  refuseTwice('unit test', unitTests)
  return { models, seeds, snapshots, sources, unitTests }
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
  macros: Macros,
): Promise<Model[]> {
  const byName = new Map(notes.map((note) => [note.name, note]))
  const models = new Map<string, Model>()
  for (const template of await templatesOf(folder, found.files, macros)) {
    const { file } = template
    const name = basename(file, '.sql')
    const twin = models.get(name)
    if (twin !== undefined) {
      throw new ProjectError({ file }, `there is another model '${name}': ${twin.file}`)
    }
    const note = byName.get(name)
    if (note === undefined) throw undocumented(file, name)
    const configs = folders.filter((config) => covers(config, pathIn(found)({ file })))
    models.set(name, {
      name,
      file,
      template,
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

function refuseTwice(what: string, described: readonly { name: string; place: Place }[]): void {
  const names = described.map(({ name }) => name)
  const twin = described.find(({ name }, index) => names.indexOf(name) < index)
  if (twin === undefined) return
  throw new ProjectError(twin.place, `${what} '${twin.name}' is described twice`)
}

/** `ref` knows models, seeds and snapshots by one name each. */
function refuseSharedNames(all: readonly { name: string; file: string }[]): void {
  const names = new Map<string, string>()
  for (const { name, file } of all) {
    const twin = names.get(name)
    if (twin !== undefined) throw new ProjectError({ file }, `there is another '${name}': ${twin}`)
    names.set(name, file)
  }
}

function undocumented(file: string, name: string): ProjectError {
  return new ProjectError({ file }, `model '${name}' has no yml`, {
    hint: `Describe the model and its columns in ${file.replace(/\.sql$/, '.yml')}.`,
  })
}

/** The folders of a model or seed below the path it was found under, and its name. */
function pathIn({ root }: Found): (found: { readonly file: string }) => string[] {
  return ({ file }) => file.slice(root(file).length + 1, -extname(file).length).split('/')
}

function refuseIdleFolders(
  folders: readonly FolderConfig[],
  paths: readonly (readonly string[])[],
): void {
  for (const config of folders) {
    if (paths.some((path) => covers(config, path))) continue
    const known = new Set(paths.flatMap((path) => path.slice(0, -1)))
    throw unknownName(config.place, 'folder', config.path.join('/'), known)
  }
}

/** Tests in a folder `generic` are macros for dbt; ours are in `sql/checks`. */
async function testsOf(
  folder: string,
  paths: readonly string[],
  macros: Macros,
): Promise<SingularTest[]> {
  const { files } = await under(folder, paths)
  const templates = await templatesOf(
    folder,
    files.filter((file) => !file.includes('/generic/')),
    macros,
  )
  return templates.map((template) => {
    const { file } = template
    return { name: basename(file, '.sql'), file, template }
  })
}

async function macrosOf(folder: string, paths: readonly string[]): Promise<Macros> {
  const { files } = await under(folder, paths)
  return readMacros(await textsOf(folder, files.filter(isSql)))
}

/** The blocks of the `.md` files under all paths, or under the ones given for them. */
async function docsOf(folder: string, project: ProjectFile): Promise<DocBlock[]> {
  const everywhere = (['model', 'seed', 'snapshot', 'test', 'macro', 'analysis'] as const).map(
    (kind) => project[`${kind}-paths`],
  )
  const { files } = await under(folder, project['docs-paths'] ?? everywhere.flat())
  return readDocs(
    await textsOf(
      folder,
      files.filter((file) => file.endsWith('.md')),
    ),
  )
}

async function templatesOf(
  folder: string,
  files: readonly string[],
  macros: Macros,
): Promise<ParsedTemplate[]> {
  const texts = await textsOf(folder, files.filter(isSql))
  return texts.map(({ file, text }) => readTemplate(text, file, macros))
}

async function textsOf(
  folder: string,
  files: readonly string[],
): Promise<{ file: string; text: string }[]> {
  return Promise.all(
    files.map(async (file) => ({ file, text: await readFile(join(folder, file), 'utf8') })),
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
