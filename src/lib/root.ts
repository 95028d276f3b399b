import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the installed package: what holds `package.json`, `sql/` and `dbt-like-models/`. */
export const packageRoot: string = findRoot(dirname(fileURLToPath(import.meta.url)))

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error(`no package.json above ${import.meta.url}`)
  return findRoot(parent)
}

/** The text of a statement under `sql/`, e.g. `statement('base/users')`. */
export function statement(name: string): string {
  return readFileSync(join(packageRoot, 'sql', `${name}.sql`), 'utf8')
}
