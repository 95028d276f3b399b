import { ENGINES, EXPORT_TARGETS, type Config } from '../config/config.ts'
import { ExitCode } from '../lib/errors.ts'
import { inSnakeCase } from '../lib/snake-case.ts'
import { longest, size } from '../lib/text.ts'
import { toSecond } from '../observe/words.ts'
import { build, planOfModels, rollback, rebuild, type ModelChoice } from '../pipeline/build.ts'
import { exportMarts } from '../pipeline/serve.ts'
import { listPublished, type PublishedFile } from '../serve/rollback.ts'
import { dataCommand, flag, reportOptions, text, type Output, type Terminal } from './command.ts'
import { runJob } from './job.ts'
import { momentOf } from './options.ts'
import { createWorld, showingWarnings } from './world.ts'

export const buildCommand = dataCommand({
  examples: {
    '$0 build': 'build all models',
    '$0 build --select +fct_user_day': 'build one mart and the models it reads',
    '$0 build --select state:modified+': 'build the models that changed, and those that read them',
    '$0 build --plan': 'show what would be reused, updated or created, and why',
    '$0 build --retry': 'continue after fixing a model that failed',
    '$0 build --as-of 2026-03-01': 'build the warehouse as it was known at the end of that day',
  },
  options: {
    ...reportOptions,
    select: text(
      'build only these models: name, fct_*, +name (with the models it reads), name+1, @name, tag:x, path:x, state:modified, result:error; a space means or, a comma means and',
    ),
    exclude: text('do not build these models; same syntax as --select'),
    retry: {
      type: 'boolean',
      conflicts: ['select', 'exclude', 'as-of'],
      describe: 'continue the last build, which failed: build only what it did not',
    },
    'as-of': {
      ...text(
        'use only data fetched until this time: 2026-03-01T06:00:00Z, or 2026-03-01 for the end of that day',
      ),
      conflicts: ['select', 'exclude'],
    },
    'full-refresh': flag('build every model from scratch, even if only some of its days changed'),
    engine: {
      choices: ENGINES,
      describe:
        'engine that builds the models: DuckDB, or a Spark cluster (default: as configured)',
    },
    plan: {
      type: 'boolean',
      conflicts: ['as-of', 'retry'],
      describe: 'show what would be done with each model, and why, and build nothing',
    },
  },
  run: (flags, terminal) => {
    const { select, exclude, retry, fullRefresh, engine } = flags
    const asOf = flags.asOf === undefined ? undefined : momentOf(flags.asOf, '--as-of')
    const choice = { select, exclude, retry, fullRefresh, engine, asOf }
    return async (config) => {
      if (flags.plan === true) return planOf(config, choice, terminal)
      return runJob({ ...flags, command: 'build', config }, terminal, (context, runs) =>
        build(context, { runs, ...choice }),
      )
    }
  },
})

async function planOf(config: Config, choice: ModelChoice, terminal: Terminal): Promise<Output> {
  const { world, close } = createWorld(showingWarnings(terminal), { ...terminal, environment: {} })
  const context = { config, world, runId: 'plan', deadline: Infinity }
  const plan = await planOfModels(context, choice).finally(close)
  const widest = longest(plan.map(({ model }) => model))
  const lines = plan.map(
    ({ model, action, reason }) => `${model.padEnd(widest)}  ${action.padEnd(6)}  ${reason}\n`,
  )
  return { json: plan, text: lines.length === 0 ? 'No model is selected.\n' : lines.join('') }
}

export const rebuildCommand = dataCommand({
  examples: { '$0 rebuild': 'after a restore from a backup, or if ledger or base may be damaged' },
  options: reportOptions,
  run: (flags, terminal) => async (config) =>
    runJob({ ...flags, command: 'rebuild', config }, terminal, (context, runs) =>
      rebuild(context, { runs }),
    ),
})

export const exportCommand = dataCommand({
  examples: {
    '$0 export parquet': 'write one Parquet file per mart, and a manifest',
    '$0 export csv': 'write CSV files, for spreadsheets',
    '$0 export duckdb': 'write marts and meta to one DuckDB file, for BI tools',
  },
  options: {
    ...reportOptions,
    target: {
      choices: EXPORT_TARGETS,
      demandOption: true,
      isArgument: true,
      describe: 'format of the files',
    },
  },
  run: (flags, terminal) => async (config) =>
    runJob({ ...flags, command: 'export', config }, terminal, async (context) => {
      await exportMarts(context, flags.target)
      return { exitCode: ExitCode.complete }
    }),
})

export const rollbackCommand = dataCommand({
  examples: {
    '$0 rollback': 'publish the previous warehouse again',
    '$0 rollback --list': 'list the published file and the earlier ones that are kept',
  },
  options: {
    ...reportOptions,
    list: {
      type: 'boolean',
      describe: 'list the published file (*) and the earlier ones, and change nothing',
    },
    to: {
      ...text(
        'id of the run that built the file, or its first characters (default: the previous file)',
      ),
      conflicts: 'list',
    },
  },
  run: (flags, terminal) => async (config) => {
    if (flags.list === true) {
      const files = await listPublished(config.dataFolder)
      return { json: files.map(inSnakeCase), text: filesText(files) }
    }
    return runJob({ ...flags, command: 'rollback', config }, terminal, (context) =>
      rollback(context, flags.to),
    )
  },
})

function filesText(files: readonly PublishedFile[]): string {
  if (files.length === 0) return 'Nothing is published.\n'
  const lines = files.map(({ runId, builtAt, bytes, isPublished, problem }) => {
    const [mark, note] = isPublished ? ['*', '  published'] : [' ', '']
    const broken = problem === null ? '' : `  cannot be published again: ${problem}`
    return `${mark} ${runId}  built ${builtAt === null ? '(unknown)' : toSecond(builtAt)}  ${size(bytes)}${note}${broken}\n`
  })
  return lines.join('')
}
