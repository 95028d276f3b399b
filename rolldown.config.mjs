// Compiles without checking types (`npm run typecheck` does): a tenth of the time of tsc.
import { chmodSync, readdirSync } from 'node:fs'
import { defineConfig } from 'rolldown'

const PAGE = 'serve/report/page'
const modules = readdirSync('src', { recursive: true })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.startsWith(PAGE))

export default defineConfig([
  {
    input: Object.fromEntries(modules.map((path) => [path.slice(0, -'.ts'.length), `src/${path}`])),
    platform: 'node',
    // a package is loaded where it is installed; only the compiler's own helpers are copied
    external: (id) => /^[^./]/.test(id) && !id.startsWith('@oxc-project/'),
    transform: { target: 'es2023' },
    plugins: [
      {
        name: 'executable',
        // npx does it once for each folder, and is refused by a file that is built again
        writeBundle: () => {
          chmodSync('dist/cli/main.js', 0o755)
        },
      },
    ],
    output: {
      dir: 'dist',
      preserveModules: true,
      preserveModulesRoot: 'src',
      sourcemap: true,
    },
  },
  {
    input: `src/${PAGE}/main.ts`,
    output: { file: 'dist/report-page.js', format: 'iife', minify: true },
  },
])
