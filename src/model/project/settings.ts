import type { z } from 'zod'
import { isObject } from '../../lib/json.ts'
import { ProjectError, type Place } from './errors.ts'
import { modelConfigShape, seedConfigShape, testConfigShape, type TestConfig } from './shapes.ts'
import type { ModelConfig, ModelSettings, TestSettings } from './types.ts'

/** The settings in `dbt_project.yml` of all models, or seeds, under a folder. */
export interface FolderConfig {
  /** Folders below the model path; the last may be a model's name. */
  readonly path: readonly string[]
  readonly config: ModelConfig
  readonly place: Place
}

type PlaceOf = (...path: PropertyKey[]) => Place
type Tree = Readonly<Record<string, unknown>>

/**
 * The `models:` or the `seeds:` tree of `dbt_project.yml`, outermost folder first.
 *
 * @throws ProjectError with line at an unknown key.
 */
export function folderConfigs(
  kind: 'models' | 'seeds',
  tree: Tree,
  project: string,
  placeOf: PlaceOf,
): FolderConfig[] {
  const shape: z.ZodType<ModelConfig> = kind === 'models' ? modelConfigShape : seedConfigShape
  const collect = (folder: Tree, path: readonly string[]): FolderConfig[] => {
    const placeIn = (name: string): Place => placeOf(kind, ...path, name)
    const own = Object.entries(folder).filter(([key]) => key.startsWith('+'))
    const config = own.length === 0 ? [] : [readConfig(shape, own, placeIn)]
    const below = Object.entries(folder).flatMap(([key, value]) => {
      if (key.startsWith('+')) return []
      if (isObject(value)) return collect(value, [...path, key])
      throw new ProjectError(placeIn(key), `'${key}' is neither a folder nor a setting`, {
        hint: `Write settings with a plus: +${key}.`,
      })
    })
    const inProject = path[0] === project ? path.slice(1) : path
    const place = placeOf(kind, ...path)
    return [...config.map((each) => ({ path: inProject, config: each, place })), ...below]
  }
  return collect(tree, [])
}

/**
 * The `data_tests:` tree of `dbt_project.yml`: settings of all tests, at the
 * top or under the project's name.
 *
 * @throws ProjectError with line for an unknown key, and for a folder.
 */
export function testConfigOf(tree: Tree, project: string, placeOf: PlaceOf): TestSettings {
  const { [project]: own, ...shared } = tree
  const all = Object.entries({ ...shared, ...(isObject(own) ? own : {}) })
  const config = readConfig(testConfigShape, all, (name) =>
    placeOf('data_tests', ...(name in shared ? [] : [project]), name),
  )
  return testSettings(
    { severity: 'error', store_failures: false, schema: 'dbt_test__audit' },
    config,
  )
}

function readConfig<T>(
  shape: z.ZodType<T>,
  entries: readonly (readonly [string, unknown])[],
  placeOf: (name: string) => Place,
): T {
  const settings = entries.map(([key, value]) => [key.replace(/^\+/, ''), value] as const)
  const result = shape.safeParse(Object.fromEntries(settings))
  if (result.success) return result.data
  const [issue] = result.error.issues
  const key = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path[0]
  const name = `+${String(key ?? '')}`
  throw new ProjectError(placeOf(name), `${name}: ${issue?.message ?? 'wrong'}`)
}

/** Whether a model or seed with these folders and name is under the setting's folder. */
export function covers(config: FolderConfig, path: readonly string[]): boolean {
  return config.path.every((step, index) => path[index] === step)
}

/** A later setting overrides an earlier one; tags, meta and hooks are combined, as in dbt. */
export function mergeSettings(configs: readonly ModelConfig[]): ModelSettings {
  const last = <Key extends keyof ModelConfig>(key: Key): ModelConfig[Key] =>
    configs.findLast((config) => config[key] !== undefined)?.[key]
  return {
    materialized: last('materialized') ?? 'view',
    schema: last('schema') ?? 'main',
    unique_key: last('unique_key') ?? [],
    tags: [...new Set(configs.flatMap((config) => config.tags ?? []))],
    meta: configs.reduce((all, each) => ({ ...all, ...each.meta }), {}),
    pre_hook: configs.flatMap((config) => config.pre_hook ?? []),
  }
}

/** The settings of a test, which override those of all tests. */
export function testSettings(all: TestSettings, own: TestConfig): TestSettings {
  const { severity = all.severity, store_failures = all.store_failures, schema = all.schema } = own
  return { severity, store_failures, schema }
}
