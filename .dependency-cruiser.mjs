const stages = ['extract', 'normalize', 'model', 'serve', 'hooks']

/** A stage or layer may import only the named folders of src, and itself. */
function layer(name, allowed) {
  const folders = [name, ...allowed].join('|')
  return {
    name: `${name}-imports`,
    severity: 'error',
    comment: `src/${name} may import ${allowed.length === 0 ? 'nothing else' : allowed.join(', ')} (docs/architecture.md)`,
    from: { path: `^src/${name}/` },
    to: { path: '^src/', pathNot: `^src/(${folders})/` },
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
    {
      name: 'core-imports-nothing',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { pathNot: '^src/core/' },
    },
    layer('client', ['core']),
    layer('store', ['core']),
    layer('emulator', ['core']),
    layer('extract', ['client', 'store', 'core']),
    ...stages
      .filter((stage) => stage !== 'extract' && stage !== 'hooks')
      .map((stage) => layer(stage, ['store', 'core'])),
    {
      name: 'hooks-imports',
      severity: 'error',
      comment: 'src/hooks may import store and core, and of the client how a Retry-After is read',
      from: { path: '^src/hooks/' },
      to: { path: '^src/', pathNot: '^src/(hooks|store|core)/|^src/client/retry-after\\.ts$' },
    },
    {
      name: 'observe-imports',
      severity: 'error',
      comment: 'src/observe may import core, and of store the files alone',
      from: { path: '^src/observe/' },
      to: { path: '^src/', pathNot: '^src/(observe|core)/|^src/store/files\\.ts$' },
    },
    {
      name: 'doctor-imports',
      severity: 'error',
      comment: 'src/doctor looks at what a run needs, and has no part in one',
      from: { path: '^src/doctor/' },
      to: {
        path: '^src/',
        pathNot: '^src/(doctor|client|extract|serve|store|core)/|^src/config\\.ts$',
      },
    },
    {
      name: 'pipeline-imports',
      severity: 'error',
      from: {
        path: '^src/(pipeline|beside|publication|normalization|ahead|verification|job|view)\\.ts$',
      },
      to: { path: '^src/(cli|emulator|observe)/' },
    },
    {
      name: 'package-imports',
      severity: 'error',
      comment: 'what the package exports is the client, and nothing of the warehouse',
      from: { path: '^src/(index|platform-client|node-world)\\.ts$' },
      to: {
        path: '^src/',
        pathNot: '^src/(client|core)/|^src/(platform-client|node-world)\\.ts$',
      },
    },
    door('@duckdb', '^src/store/'),
    door('yargs', '^src/cli/'),
    door('undici', '^src/client/http\\.ts$'),
    door('nodemailer', '^src/hooks/smtp\\.ts$'),
    door('(hono|@hono)', '^src/emulator/'),
    {
      name: 'http-server-only-in-the-emulator',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/emulator/' },
      to: { path: '^(node:)?https?$' },
    },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      from: { path: '^src/' },
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
        pathNot: '\\.d\\.ts$|^src/(cli/main|index)\\.ts$',
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
