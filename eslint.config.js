import tseslint from 'typescript-eslint'

/** Effects that come in through the World; only src/client/http/node-world.ts and src/cli make one. */
const worldOnly = [
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: 'Take the time from the World.',
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Take the time from the World.',
  },
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: 'Take chance from the World.',
  },
  { selector: "CallExpression[callee.name='fetch']", message: 'Send requests through the World.' },
  {
    selector: "MemberExpression[object.name='process'][property.name=/^(env|exit)$/]",
    message: 'Only src/cli reads the environment or exits.',
  },
]

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'data', 'coverage', '**/*.mjs', '*.js'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './src/serve/report/page/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      'max-lines': ['error', { max: 400 }],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        ...worldOnly,
      ],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
    },
  },
  {
    files: [
      'src/cli/**/*.ts',
      'src/client/http/node-world.ts',
      'test/**/*.ts',
      'bench/**/*.ts',
      'vitest*.config.ts',
    ],
    rules: {
      'no-console': 'off',
      'no-restricted-syntax': 'off',
    },
  },
)
