import { accessSync, constants, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { join } from 'node:path'
import { packageRoot } from '../src/lib/package.ts'

interface LockedPackage {
  readonly version: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly hasInstallScript?: boolean
}

const read = (name: string): string => readFileSync(join(packageRoot, name), 'utf8')
const lock = JSON.parse(read('package-lock.json')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>
}
const manifest = JSON.parse(read('package.json')) as {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly files: readonly string[]
  readonly bin: Readonly<Record<string, string>>
}

it('the built command can be executed, as npx does in a checkout that is built again', () => {
  const { bin } = manifest
  for (const path of Object.values(bin)) accessSync(join(packageRoot, path), constants.X_OK)
  expect(Object.keys(bin)).toEqual(['agent-warehouse'])
})

describe('the lock file', () => {
  it('has the binary of every platform for each package with binaries', () => {
    const binaries = Object.entries(lock.packages).flatMap(([path, each]) =>
      Object.keys(each.optionalDependencies ?? {}).map((name) => ({ path, name })),
    )
    expect(binaries.map(({ name }) => name)).toEqual(
      expect.arrayContaining(
        ['darwin-arm64', 'linux-x64', 'win32-x64'].map((of) => `@duckdb/node-bindings-${of}`),
      ),
    )
    expect(binaries.filter(({ path, name }) => !isLocked(path, name))).toEqual([])
  })

  it('has no production package with an install script', () => {
    const scripted = Object.entries(lock.packages)
      .filter(([, each]) => each.hasInstallScript === true)
      .map(([path]) => path)
    // Watches files for the test runner on macOS; optional, and built from its own source.
    expect(scripted.filter((path) => path !== 'node_modules/fsevents')).toEqual([])
  })

  it('names no registry', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved": "http/)
  })
})

describe('the dependencies', () => {
  it('are pinned, each with a reason', () => {
    const reasons = read('docs/dependencies.md')
    const all = { ...manifest.dependencies, ...manifest.devDependencies }
    for (const [name, version] of Object.entries(all)) {
      expect(version, name).toMatch(/^\d/)
      if (!name.startsWith('@types/')) expect(reasons, name).toContain(`\`${name}\``)
    }
  })
})

describe('the package', () => {
  it('has every file that the README links to', () => {
    const links = [...read('README.md').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
    const dead = links
      .map(([, path = '']) => path)
      .filter((path) => !manifest.files.some((each) => `${path}/`.startsWith(`${each}/`)))
    expect(links).not.toEqual([])
    expect(dead).toEqual([])
  })

  it('has the script that its nightly workflow runs', () => {
    expect(read('.github/workflows/nightly.yml')).toContain('run: .github/scripts/nightly.sh ')
    expect(manifest.files).toContain('.github/scripts')
  })
})

/** npm looks for a package in the folder of the one that wants it, then in each one above. */
function isLocked(path: string, name: string): boolean {
  const parents = path.split('/node_modules/')
  return (
    parents.some((_, index) => {
      const parent = parents.slice(0, parents.length - index).join('/node_modules/')
      return lock.packages[`${parent}/node_modules/${name}`.replace(/^\//, '')] !== undefined
    }) || lock.packages[`node_modules/${name}`] !== undefined
  )
}
