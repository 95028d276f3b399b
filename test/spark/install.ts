import { execFileSync } from 'node:child_process'
import { installPython } from '../../bench/python.mjs'
import { REQUIREMENTS } from './cluster.ts'

/** Once, before the tests; the next time it is there. */
export function setup(): void {
  execFileSync('java', ['-version'], { stdio: 'ignore' })
  installPython(REQUIREMENTS)
}
