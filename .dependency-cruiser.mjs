/**
 * What each folder of src may import, besides itself; `docs/architecture.md` explains it in a
 * table that a test holds against this one. A name with a slash is one file.
 */
export const allowedImports = {
  lib: [],
  client: ['lib'],
  lake: ['lib'],
  config: ['hooks/config', 'lake', 'lib'],
  extract: ['client', 'lake', 'lib'],
  normalize: ['lake', 'lib'],
  model: ['lake', 'lib'],
  serve: ['model/project/shapes', 'model/project/types', 'lake', 'lib'],
  notify: ['client/rate-limit/header-values', 'lib'],
  hooks: ['notify', 'lake', 'lib'],
  observe: ['lib'],
  doctor: ['client', 'config', 'extract', 'serve', 'lake', 'lib'],
  pipeline: ['config', 'client', 'extract', 'normalize', 'model', 'serve', 'hooks', 'lake', 'lib'],
  emulator: ['lib'],
}

/** The same of the folders of src/model, which `build` comes before. */
const allowedInModel = {
  project: [],
  shared: ['project'],
  checks: ['shared', 'project'],
  artifacts: ['checks', 'shared', 'project'],
  engines: ['checks', 'shared', 'project'],
}

/** A folder imports itself and what is allowed. */
function imports([name, allowed]) {
  const folders = [name, ...allowed].map((each) => each + (each.includes('/') ? '\\.ts$' : '/'))
  return {
    name: `${name}-imports`,
    severity: 'error',
    comment: `src/${name} may import ${allowed.length === 0 ? 'nothing else' : allowed.join(', ')} (docs/architecture.md)`,
    from: { path: `^src/${name}/` },
    to: { path: '^src/', pathNot: `^src/(${folders.join('|')})` },
  }
}

function importsInModel([name, allowed]) {
  return {
    name: `model-${name}-imports`,
    severity: 'error',
    comment: `src/model/${name} may import ${allowed.join(', ') || 'nothing else'} of src/model`,
    from: { path: `^src/model/${name}/` },
    to: { path: '^src/model/', pathNot: `^src/model/(${[name, ...allowed].join('|')})/` },
  }
}

/** One vendor, one door. */
function door(vendor, path) {
  return {
    name: `only-door-to-${vendor}`,
    severity: 'error',
    from: { path: '^src/', pathNot: path },
    to: { path: `node_modules/${vendor}/` },
  }
}

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...Object.entries(allowedImports).map(imports),
    ...Object.entries(allowedInModel).map(importsInModel),
    {
      name: 'package-imports',
      severity: 'error',
      comment: 'what the package exports is the client, and nothing of the warehouse',
      from: { path: '^src/index\\.ts$' },
      to: {
        path: '^src/',
        pathNot: '^src/(client|lib)/',
      },
    },
    door('@duckdb', '^src/lib/duckdb\\.ts$'),
    door('(date-fns|@date-fns)', '^src/lib/days\\.ts$'),
    door('yargs', '^src/cli/'),
    door('undici', '^src/client/http/node-world\\.ts$'),
    door('nodemailer', '^src/notify/email\\.ts$'),
    door('(hono|@hono)', '^src/emulator/'),
    door('@observablehq', '^src/serve/report/page/'),
    {
      name: 'http-server-only-in-the-emulator',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/emulator/' },
      to: { path: '^(node:)?https?$' },
    },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      comment: 'the page of the report is bundled when the package is built',
      from: { path: '^src/', pathNot: '^src/serve/report/page/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '^src/index\\.ts$' },
      to: {},
    },
    {
      name: 'all-reachable-from-the-command-or-the-package',
      severity: 'error',
      from: { path: '^src/(cli/main|index)\\.ts$' },
      to: {
        path: '^src/',
        reachable: false,
        pathNot: '\\.d\\.ts$|^src/(cli/main|index)\\.ts$|^src/serve/report/page/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
}
