import { z } from 'zod'
import { ProjectError, type Place } from './errors.ts'
import { modelConfigShape, seedConfigShape, testConfigShape, type TestConfig } from './shapes.ts'
import type { ModelConfig } from './types.ts'

/** What `dbt_project.yml` says of every model, or seed, under a folder. */
export interface FolderConfig {
  /** Folders below the model path; the last may be a model's name. */
  readonly path: readonly string[]
  readonly config: ModelConfig
  readonly place: Place
}

type PlaceOf = (...path: PropertyKey[]) => Place
type Tree = Readonly<Record<string, unknown>>

/** `+persist_docs` is allowed for dbt; here comments are always written. */
const docs = { persist_docs: z.unknown().optional() }
const shapes = { models: modelConfigShape.extend(docs), seeds: seedConfigShape.extend(docs) }

type Kind = keyof typeof shapes

/**
 * The `models:` or the `seeds:` tree of `dbt_project.yml`, outermost folder first.
 *
 * @throws ProjectError with line at an unknown key.
 */
export function folderConfigs(
  kind: Kind,
  tree: Tree,
  project: string,
  placeOf: PlaceOf,
): FolderConfig[] {
  return collect(tree, [kind], placeOf).map((found) => ({
    ...found,
    path: found.path[0] === project ? found.path.slice(1) : found.path,
  }))
}

type At = readonly [Kind, ...string[]]

/**
 * The `data_tests:` tree of `dbt_project.yml`: what holds of all tests, at the
 * top or under the project's name.
 *
 * @throws ProjectError with line at an unknown key, and at a folder.
 */
export function testConfigOf(tree: Tree, project: string, placeOf: PlaceOf): TestConfig {
  const own = tree[project]
  const shared = Object.entries(tree).filter(([key]) => key !== project)
  const at = ['data_tests', project]
  return {
    ...readTestConfig(shared, (name) => placeOf('data_tests', name)),
    ...readTestConfig(isTree(own) ? Object.entries(own) : [], (name) => placeOf(...at, name)),
  }
}

function readTestConfig(
  entries: readonly [string, unknown][],
  placeOf: (name: string) => Place,
): TestConfig {
  const settings = entries.map(([key, value]) => [key.replace(/^\+/, ''), value])
  const result = testConfigShape.safeParse(Object.fromEntries(settings))
  if (!result.success) throw settingError(result.error, placeOf)
  return result.data
}

function settingError(error: z.ZodError, placeOf: (name: string) => Place): ProjectError {
  const [issue] = error.issues
  const key = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path[0]
  const name = `+${String(key ?? '')}`
  return new ProjectError(placeOf(name), `${name}: ${issue?.message ?? 'wrong'}`)
}

/** Whether a model or seed with these folders and name is under the setting's folder. */
export function covers(config: FolderConfig, path: readonly string[]): boolean {
  return config.path.every((step, index) => path[index] === step)
}

function collect(tree: Tree, at: At, placeOf: PlaceOf): FolderConfig[] {
  const settings: [string, unknown][] = []
  const folders: FolderConfig[] = []
  for (const [key, value] of Object.entries(tree)) {
    if (key.startsWith('+')) settings.push([key.slice(1), value])
    else if (isTree(value)) folders.push(...collect(value, [...at, key], placeOf))
    else {
      throw new ProjectError(placeOf(...at, key), `'${key}' is neither a folder nor a setting`, {
        hint: `Write settings with a plus: +${key}.`,
      })
    }
  }
  return [...ownConfig(settings, at, placeOf), ...folders]
}

function ownConfig(
  settings: readonly [string, unknown][],
  at: At,
  placeOf: PlaceOf,
): FolderConfig[] {
  if (settings.length === 0) return []
  const result: z.ZodSafeParseResult<ModelConfig> = shapes[at[0]].safeParse(
    Object.fromEntries(settings),
  )
  if (!result.success) throw settingError(result.error, (name) => placeOf(...at, name))
  return [{ path: at.slice(1), config: result.data, place: placeOf(...at) }]
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
