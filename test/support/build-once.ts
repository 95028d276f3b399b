import { execFileSync } from 'node:child_process'
import { packageRoot } from '../../src/lib/package.ts'

/** The command is tested as users have it: compiled, the page of the report bundled. */
export function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: packageRoot, stdio: 'inherit' })
}
