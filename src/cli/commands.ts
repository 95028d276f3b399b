import { command, group, type Registration } from './command.ts'

/** Every command by its name and purpose, in the order of `--help`. */
export const COMMANDS: readonly Registration[] = [
  command(
    'run',
    'the nightly job: sync, build, check, publish, then the configured exports',
    async () => (await import('./run.ts')).runCommand,
  ),
  command(
    'sync',
    'request every interval that is missing or due from the platform, and land it',
    async () => (await import('./run.ts')).syncCommand,
  ),
  command(
    'plan',
    'what sync would request and why, without requesting it',
    async () => (await import('./plan.ts')).planCommand,
  ),
  command(
    'build',
    'build the models from what has landed, check them, and publish',
    async () => (await import('./build.ts')).buildCommand,
  ),
  command(
    'rebuild',
    'make ledger, base and warehouse again from raw, without the network',
    async () => (await import('./build.ts')).rebuildCommand,
  ),
  command(
    'doctor',
    'check configuration, credential, clock, disk and files, and say how to fix each',
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
    async () => (await import('./query.ts')).tablesCommand,
  ),
  command(
    'export <target>',
    'write the marts of the published warehouse as files',
    async () => (await import('./build.ts')).exportCommand,
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
  group(
    'controls',
    'the settings of the organisation, and who changed them',
    async () => (await import('./admin/groups.ts')).controls,
  ),
  group(
    'limits',
    'limits of credits, for all and for each user',
    async () => (await import('./admin/groups.ts')).limits,
  ),
  group(
    'readiness',
    'readiness reports of repositories',
    async () => (await import('./admin/groups.ts')).readiness,
  ),
  group(
    'computers',
    'persistent environments that sessions run in',
    async () => (await import('./admin/groups.ts')).computers,
  ),
  group(
    'sessions',
    'sessions of agents, each by its id',
    async () => (await import('./admin/groups.ts')).sessions,
  ),
  group(
    'messages',
    'messages of sessions, each by its id',
    async () => (await import('./admin/groups.ts')).messages,
  ),
  group(
    'hooks',
    "record the agent's hook events, and notify of them",
    async () => (await import('./hooks/hooks.ts')).hooksGroup,
  ),
  command(
    'emulate',
    'serve the stand-in platform on a port',
    async () => (await import('./emulate.ts')).emulateCommand,
  ),
  command(
    'demo',
    'the whole pipeline on the stand-in platform: nothing to configure',
    async () => (await import('./demo.ts')).demoCommand,
  ),
]
