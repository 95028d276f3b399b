import { spawnSync } from 'node:child_process'
import { installPython } from '../../bench/python.mjs'
import { REQUIREMENTS } from './cluster.ts'

/** Installs once, before the tests; later runs find it installed. */
export function setup(): void {
  const { stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' })
  const [, version = ''] = /version "(\d+)/.exec(stderr) ?? []
  if (Number(version) < 17) {
    const found = version === '' ? 'there is no java' : `java is version ${version}`
    throw new Error(`this needs Java 17 or 21 on the PATH: ${found}`)
  }
  installPython(REQUIREMENTS)
}
