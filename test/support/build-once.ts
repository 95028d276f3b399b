import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { packageRoot } from '../../src/lib/package.ts'

/** The command is tested as users have it: compiled. */
export function setup(): void {
  const tsc = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: packageRoot,
    stdio: 'inherit',
  })
}
