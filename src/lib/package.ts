import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fieldOf } from './json.ts'

/** The folder of the installed package: what holds `package.json`, `sql/` and `dbt-like-models/`. */
export const packageRoot: string = findRoot(dirname(fileURLToPath(import.meta.url)))

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error(`no package.json above ${import.meta.url}`)
  return findRoot(parent)
}

const statements = new Map<string, string>()

/** The text of a statement under `sql/`, e.g. `statement('base/users')`. Each is read once. */
export function statement(name: string): string {
  const text = statements.get(name) ?? readFileSync(join(packageRoot, 'sql', `${name}.sql`), 'utf8')
  statements.set(name, text)
  return text
}

const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))

export const version = String(fieldOf(manifest, 'version'))

/** The versions of Node.js that the package supports. */
export const nodeVersions = String(fieldOf(fieldOf(manifest, 'engines'), 'node'))

/**
 * Fills `{{ name }}` in a statement with SQL text. Values are SQL already:
 * pass them through `literal` or `identifier`.
 *
 * @throws RangeError for a placeholder without a value.
 */
export function fill(sql: string, values: Readonly<Record<string, string>>): string {
  return sql.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new RangeError(`the statement has no value for {{ ${name} }}`)
    return value
  })
}
