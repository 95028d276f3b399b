import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join, relative, sep } from 'node:path'
import type { z } from 'zod'
import { allOrThrow } from '../../lib/concurrency.ts'
import { isFolder, orIfMissing } from '../../lib/files.ts'
import { isObject } from '../../lib/json.ts'
import { readDocs, readYaml } from './yaml.ts'
import { ProjectError, requireKnown, unknownName } from './errors.ts'
import { readMetrics } from './metrics.ts'
import { notesIn, type Note } from './properties.ts'
import { seedsOf, type SeedChoice } from './seeds.ts'
import {
  covers,
  folderConfigs,
  mergeSettings,
  testConfigOf,
  type FolderConfig,
} from './settings.ts'
import { projectShape, propertiesShape } from './shapes.ts'
import { readMacros, readTemplate } from './template.ts'
import type { ModelSettings, Project } from './types.ts'

const PROJECT_FILE = 'dbt_project.yml'

/**
 * Reads a dbt project: `dbt_project.yml`, the models and seeds with their yml,
 * the sources and the singular tests. Makes all checks that need no rendering, and
 * freezes the value.
 *
 * @throws UsageError if there is no project; ProjectError with file and line
 * for a model without a yml, a yml without its model, an unknown key, invalid YAML,
 * an invalid template, or a seed that does not begin with the columns of its yml.
 */
export async function loadProject(folder: string, options: SeedChoice = {}): Promise<Project> {
  const { value: project, placeOf } = await readYaml(folder, PROJECT_FILE, projectShape)
  const { name } = project
  const { 'model-paths': modelPaths, 'seed-paths': seedPaths, 'test-paths': testPaths } = project
  const ymlPaths = [...modelPaths, ...seedPaths, ...project['snapshot-paths']]
  const docs = readDocs(await textsOf(folder, ymlPaths, ['.md']))
  const macros = readMacros(await textsOf(folder, project['macro-paths'], ['.sql']))
  const files = await filesIn(folder, ymlPaths, ['.yml', '.yaml'])
  const testConfig = testConfigOf(project.data_tests, name, placeOf)
  const ymls = files.map((file) => readYaml(folder, file, propertiesShape, docs))
  const notes = notesIn(await allOrThrow(ymls), testConfig)

  const templates = await textsOf(folder, modelPaths, ['.sql'])
  const texts = new Map(templates.map(({ file, text }) => [file, text]))
  const modelFolders = folderConfigs('models', project.models, name, placeOf)
  const models = described('model', [...texts.keys()], modelPaths, notes.models, modelFolders).map(
    (model) => ({
      ...model,
      template: readTemplate(texts.get(model.file) ?? '', model.file, macros),
    }),
  )
  const csvs = await filesIn(folder, seedPaths, ['.csv'])
  const seedFolders = folderConfigs('seeds', project.seeds, name, placeOf)
  const seedFiles = described('seed', csvs, seedPaths, notes.seeds, seedFolders)
  const seeds = await seedsOf(seedFiles, folder, options)
  const nodes = [...models, ...seeds, ...notes.snapshots]
  refuseSharedNames(nodes)
  const names = nodes.map((node) => node.name)
  for (const { dependsOn, place } of notes.exposures) {
    for (const each of dependsOn) requireKnown(place, 'model', each, names)
  }
  const tests = await textsOf(folder, testPaths, ['.sql'])
  return freeze({
    ...notes,
    name,
    folder,
    vars: varsOf(project),
    models: models.sort((a, b) => (a.name < b.name ? -1 : 1)),
    seeds,
    // tests in a folder `generic` are macros for dbt; ours are in `sql/checks`
    tests: tests
      .filter(({ file }) => !file.includes('/generic/'))
      .map(({ file, text }) => ({
        name: basename(file, '.sql'),
        file,
        template: readTemplate(text, file, macros),
      })),
    testConfig,
    metrics: await readMetrics(folder, models),
    docs,
  })
}

/** As in dbt, the vars under the project's name override the others. */
function varsOf({ name, vars }: z.output<typeof projectShape>): Project['vars'] {
  const { [name]: own, ...shared } = vars
  return isObject(own) ? { ...shared, ...own } : vars
}

/** The files under the paths that have one of the endings, relative to the project's folder, sorted. */
async function filesIn(
  folder: string,
  paths: readonly string[],
  endings: readonly string[],
): Promise<string[]> {
  const lists = await Promise.all(paths.map((path) => listFiles(folder, path)))
  return lists
    .flat()
    .filter((file) => endings.includes(extname(file)))
    .sort()
}

/** The files below a path, also in linked folders. */
async function listFiles(folder: string, path: string): Promise<string[]> {
  const reading = readdir(join(folder, path), { recursive: true, withFileTypes: true })
  const found = (await orIfMissing(reading, [])).map(async (entry) => {
    const own = relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')
    if (!entry.isSymbolicLink()) return entry.isFile() ? [own] : []
    return isFolder(join(folder, own)) ? await listFiles(folder, own) : [own]
  })
  return (await Promise.all(found)).flat()
}

async function textsOf(
  folder: string,
  paths: readonly string[],
  endings: readonly string[],
): Promise<{ file: string; text: string }[]> {
  const files = await filesIn(folder, paths, endings)
  return Promise.all(
    files.map(async (file) => ({ file, text: await readFile(join(folder, file), 'utf8') })),
  )
}

/** @throws ProjectError for a file without a yml, a yml without its file, and settings of an unknown folder. */
function described<N extends Note>(
  what: 'model' | 'seed',
  files: readonly string[],
  roots: readonly string[],
  notes: readonly N[],
  folders: readonly FolderConfig[],
): (Omit<N, 'config'> & { readonly file: string; readonly config: ModelSettings })[] {
  const nameOf = (file: string): string => basename(file, extname(file))
  /** The folders of the file below its root, and its name. */
  const pathOf = (file: string): string[] => {
    const root = roots.find((path) => file.startsWith(`${path}/`)) ?? ''
    return file.slice(root.length + 1, -extname(file).length).split('/')
  }
  const found = files.map((file, index) => {
    const name = nameOf(file)
    const twin = files.slice(0, index).find((each) => nameOf(each) === name)
    if (twin !== undefined) {
      throw new ProjectError({ file }, `the ${what} '${name}' is already defined in ${twin}`)
    }
    const note = notes.find((each) => each.name === name)
    if (note === undefined) {
      const yml = file.replace(/\.\w+$/, '.yml')
      throw new ProjectError({ file }, `${what} '${name}' has no yml`, {
        hint: `Describe the ${what} and its columns in ${yml}.`,
      })
    }
    const path = pathOf(file)
    const configs = folders.filter((each) => covers(each, path)).map(({ config }) => config)
    return { ...note, file, config: mergeSettings([...configs, note.config]) }
  })
  const known = files.map(nameOf)
  for (const { name, place } of notes) {
    requireKnown(place, what, name, known)
  }
  const paths = files.map(pathOf)
  for (const config of folders) {
    if (paths.some((path) => covers(config, path))) continue
    const below = new Set(paths.flatMap((path) => path.slice(0, -1)))
    throw unknownName(config.place, 'folder', config.path.join('/'), below)
  }
  return found
}

/** Models, seeds and snapshots need different names, because `ref` finds them by name. */
function refuseSharedNames(all: readonly { name: string; file: string }[]): void {
  const names = new Map<string, string>()
  for (const { name, file } of all) {
    const twin = names.get(name)
    if (twin !== undefined)
      throw new ProjectError({ file }, `'${name}' is already defined in ${twin}`)
    names.set(name, file)
  }
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const item of Object.values(value)) freeze(item)
  return value
}
