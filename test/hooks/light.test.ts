import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'

/** The files and packages that a module of src loads, directly or through others. */
function loadedBy(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found
  found.add(path)
  const imports = /^(?:import|export) (?!type )(?:[^']*? from )?'([^']+)'/gm
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(imports)) {
    if (name.startsWith('.')) loadedBy(join(dirname(path), name), found)
    else found.add(name)
  }
  return found
}

it('hooks run loads no package, because the agent waits for it', () => {
  const loaded = loadedBy(join(packageRoot, 'src', 'cli', 'hooks', 'run.ts'))
  expect(loaded).toContain(join(packageRoot, 'src', 'hooks', 'record.ts'))
  expect([...loaded].filter((name) => !/^(node:|\/)/.test(name))).toEqual([])
  expect(loaded).not.toContain('node:worker_threads')
})
