import { hooksGroup } from './hooks.ts'
import { PLATFORM_GROUPS } from './platform/groups.ts'
import { command, type Registration } from './registration.ts'

/** Every command by its name and purpose, in the order of `--help`. */
export const COMMANDS: readonly Registration[] = [
  command(
    'run',
    'the nightly job: sync, build, check, publish, then the configured exports',
    async () => (await import('./run.ts')).runCommand,
  ),
  command(
    'sync',
    'ask the platform for every interval that is missing or due, and land it',
    async () => (await import('./sync.ts')).syncCommand,
  ),
  command(
    'plan',
    'what sync would ask for and why, without asking',
    async () => (await import('./plan.ts')).planCommand,
  ),
  command(
    'build',
    'build the models from what has landed, check them, and publish',
    async () => (await import('./build.ts')).buildCommand,
  ),
  command(
    'rebuild',
    'make ledger, base and warehouse anew from raw, without the network',
    async () => (await import('./rebuild.ts')).rebuildCommand,
  ),
  command(
    'doctor',
    'check configuration, credential, clock, disk and files, and say how to mend each',
    async () => (await import('./doctor.ts')).doctorCommand,
  ),
  command(
    'status',
    'what has landed and what is missing, freshness, the last runs',
    async () => (await import('./status.ts')).statusCommand,
  ),
  command(
    'query <sql>',
    'run SQL on the published warehouse',
    async () => (await import('./query.ts')).queryCommand,
  ),
  command(
    'tables [name]',
    'the tables of the published warehouse and their meaning, or the columns of one',
    async () => (await import('./tables.ts')).tablesCommand,
  ),
  command(
    'export <target>',
    'write the marts of the published warehouse as files',
    async () => (await import('./export.ts')).exportCommand,
  ),
  command(
    'verify',
    'fetch a sample of days again and prove that the warehouse equals it',
    async () => (await import('./verify.ts')).verifyCommand,
  ),
  command(
    'rollback',
    'publish a warehouse that was published before',
    async () => (await import('./rollback.ts')).rollbackCommand,
  ),
  ...PLATFORM_GROUPS,
  hooksGroup,
  command(
    'emulate',
    'serve the stand-in platform on a port',
    async () => (await import('./emulate.ts')).emulateCommand,
  ),
  command(
    'demo',
    'the whole way on the stand-in platform: nothing to configure',
    async () => (await import('./demo.ts')).demoCommand,
  ),
]
