import type { FreshnessLimits } from '../../lib/days.ts'
import type { DocBlock } from './yaml.ts'
import type { Place } from './errors.ts'
import type {
  ExposureProperties,
  Fixture,
  Metric,
  SeedType,
  SnapshotConfig,
  TestArguments,
  UnitTestProperties,
} from './shapes.ts'
import type { ParsedTemplate } from './template.ts'

/** A dbt project as its files define it, before rendering. */
export interface Project {
  readonly name: string
  /** The folder of `dbt_project.yml`. */
  readonly folder: string
  readonly vars: Readonly<Record<string, unknown>>
  readonly models: readonly Model[]
  readonly seeds: readonly Seed[]
  readonly snapshots: readonly Snapshot[]
  readonly sources: readonly Source[]
  readonly tests: readonly SingularTest[]
  /** The settings of all tests, generic and singular. */
  readonly testConfig: TestSettings
  readonly unitTests: readonly UnitTest[]
  /** The runner only lists them in its manifest. */
  readonly exposures: readonly Exposure[]
  readonly metrics: readonly Metric[]
  readonly docs: readonly DocBlock[]
}

/** A model, a seed or a snapshot. */
export interface Described {
  readonly name: string
  /** Relative to the project's folder, with `/`. */
  readonly file: string
  readonly description: string
  readonly columns: readonly Column[]
  readonly tests: readonly GenericTest[]
  /** The place of the description in the yml. */
  readonly place: Place
}

export interface Model extends Described {
  readonly template: ParsedTemplate
  /** From `dbt_project.yml` and the yml; `config(…)` in the file may override it. */
  readonly config: ModelSettings
}

/** A table that is read from a CSV file. */
export interface Seed extends Described {
  readonly config: ModelSettings
  readonly types: Readonly<Record<string, SeedType>>
  readonly csv: SeedFile
}

/** A table that keeps the history of a model or seed. */
export interface Snapshot extends Described {
  readonly config: ModelSettings
  /** The name of the model or seed. */
  readonly of: string
  readonly rule: SnapshotRule
}

/** Spelt as dbt does. */
export type SnapshotRule = Readonly<
  Pick<SnapshotConfig, 'unique_key' | 'check_cols' | 'hard_deletes'>
>

/** The file of a seed: the project's, or the user's instead. */
export interface SeedFile {
  readonly text: string
  /** The name of the file in errors. */
  readonly place: string
  /** SHA-256 of its bytes, hex. */
  readonly digest: string
  readonly delimiter: string
  /** The names of the columns. */
  readonly header: readonly string[]
}

/** Spelt as dbt does. */
export interface ModelSettings {
  readonly materialized: 'view' | 'table' | 'incremental' | 'seed' | 'snapshot'
  readonly schema: string
  readonly tags: readonly string[]
  readonly meta: Readonly<Record<string, unknown>>
  /** The columns of an interval of an incremental model, whose rows are replaced together. */
  readonly unique_key: readonly string[]
  /** Statements to run before the model, as templates. */
  readonly pre_hook: readonly string[]
}

export type ModelConfig = {
  readonly [Key in keyof ModelSettings]?: ModelSettings[Key] | undefined
}

export interface Column {
  readonly name: string
  readonly description: string
  /** `config.meta.additivity`: how the metric may be summed. */
  readonly additivity: string | null
  readonly meta: Readonly<Record<string, unknown>>
  readonly place: Place
}

/** Spelt as dbt does. */
export interface TestSettings {
  readonly severity: 'error' | 'warn'
  /** Whether the wrong rows are stored as a table in the schema. */
  readonly store_failures: boolean
  readonly schema: string
}

export interface GenericTest extends TestSettings {
  readonly name: string
  /** Null for a test of the whole model. */
  readonly column: string | null
  readonly arguments: TestArguments
  readonly place: Place
}

/** A statement under the test paths that returns the wrong rows. */
export interface SingularTest {
  readonly name: string
  readonly file: string
  readonly template: ParsedTemplate
}

/** Given rows, and the rows that the model must make from them. */
export interface UnitTest extends Readonly<UnitTestProperties> {
  readonly place: Place
}

export interface Exposure extends Readonly<Omit<ExposureProperties, 'depends_on'>> {
  /** Names of models, seeds and snapshots. */
  readonly dependsOn: readonly string[]
  readonly place: Place
}

export interface Source {
  readonly name: string
  readonly description: string
  readonly tables: readonly {
    readonly name: string
    readonly description: string
    readonly freshness: FreshnessRule | null
  }[]
  readonly place: Place
}

/** The maximum age of a table's newest row, and how the age is computed. */
export interface FreshnessRule extends FreshnessLimits {
  /** The column, or the expression, of the time when a row was loaded. */
  readonly loadedAtField: string
  readonly place: Place
}

/** The statements to run before a model, and the select of its rows. */
export interface Statements {
  readonly preHooks: readonly string[]
  readonly sql: string
}

/** A model, seed or snapshot as it will be built. */
export interface ModelNode extends Described, ModelSettings, Statements {
  /** `schema.name` */
  readonly relation: string
  /** Updates the table of an incremental model if it exists; null for other models. */
  readonly increment: Statements | null
  readonly seed: Seed | null
  readonly snapshot: SnapshotRule | null
  /** Names of models, seeds and snapshots. */
  readonly dependsOn: readonly string[]
  /** The models that its pre-hooks name: they read them, or write to them. */
  readonly hookRefs: readonly string[]
  /** `source.table` */
  readonly sources: readonly string[]
  /** Whether it may have other rows although its models and sources have the same. */
  readonly hasOtherInput: boolean
}

export function kindOf({ materialized }: Pick<ModelNode, 'materialized'>): 'table' | 'view' {
  return materialized === 'view' ? 'view' : 'table'
}

export interface TestNode extends Omit<SingularTest, 'template'>, TestSettings {
  readonly sql: string
  readonly dependsOn: readonly string[]
  /** The tables `source.table` that it reads. */
  readonly sources: readonly string[]
}

export interface UnitTestNode extends Pick<
  UnitTest,
  'name' | 'description' | 'model' | 'expect' | 'place'
> {
  /** The model's select, which reads the relations `alias` instead of its own. */
  readonly sql: string
  readonly given: readonly GivenRows[]
}

export interface GivenRows {
  /** As in the yml: `ref('stg_user')`. */
  readonly input: string
  readonly alias: string
  /** The relation that the rows replace, which has the same columns and types. */
  readonly relation: string
  readonly rows: Fixture
}
