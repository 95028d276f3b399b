import type { Entry } from './command.ts'

const run = async () => (await import('./run.ts')).runCommand
const sync = async () => (await import('./run.ts')).syncCommand
const plan = async () => (await import('./plan.ts')).planCommand
const build = async () => (await import('./build.ts')).buildCommand
const rebuild = async () => (await import('./build.ts')).rebuildCommand
const doctor = async () => (await import('./status.ts')).doctorCommand
const status = async () => (await import('./status.ts')).statusCommand
const query = async () => (await import('./query.ts')).queryCommand
const tables = async () => (await import('./query.ts')).tablesCommand
const exportMarts = async () => (await import('./build.ts')).exportCommand
const report = async () => (await import('./report.ts')).reportCommand
const docs = async () => (await import('./report.ts')).docsCommand
const verify = async () => (await import('./verify.ts')).verifyCommand
const rollback = async () => (await import('./build.ts')).rollbackCommand
const compact = async () => (await import('./compact.ts')).compactCommand
const controls = async () => (await import('./admin/controls.ts')).controls
const limits = async () => (await import('./admin/limits.ts')).limits
const readiness = async () => (await import('./admin/readiness.ts')).readiness
const computers = async () => (await import('./admin/computers.ts')).computers
const sessions = async () => (await import('./admin/sessions.ts')).sessions
const messages = async () => (await import('./admin/sessions.ts')).messages
const hooks = async () => (await import('./hooks/hooks.ts')).hooks
const emulate = async () => (await import('./demo.ts')).emulateCommand
const demo = async () => (await import('./demo.ts')).demoCommand

/** Every command by its usage and purpose, in the order of `--help`. */
export const COMMANDS: readonly Entry[] = [
  ['run', 'the nightly job: sync, build, check, publish, then the configured exports', run],
  ['sync', 'request every interval that is missing or due from the platform, and land it', sync],
  ['plan', 'what sync would request and why, without requesting it', plan],
  ['build', 'build the models from what has landed, check them, and publish', build],
  ['rebuild', 'make ledger, base and warehouse again from raw, without the network', rebuild],
  [
    'doctor',
    'check configuration, credential, clock, disk and files, and say how to fix each',
    doctor,
  ],
  ['status', 'what has landed and what is missing, freshness, the last runs', status],
  ['query [sql]', 'run SQL on the published warehouse, or a ready-made question', query],
  [
    'tables [name]',
    'the tables of the published warehouse and their meaning, or the columns of one',
    tables,
  ],
  ['export <target>', 'write the marts of the published warehouse as files', exportMarts],
  ['report', 'write one self-contained HTML file with charts, or its findings as text', report],
  ['docs', 'write the documentation of the models as one HTML file: lineage, SQL, columns', docs],
  ['verify', 'fetch a sample of days again and prove that the warehouse equals it', verify],
  ['rollback', 'publish a warehouse that was published before', rollback],
  ['compact', 'merge the raw files of months that are over: fewer, larger files', compact],
  ['controls', 'the settings of the organisation, and who changed them', controls],
  ['limits', 'limits of credits, for all and for each user', limits],
  ['readiness', 'readiness reports of repositories', readiness],
  ['computers', 'persistent environments that sessions run in', computers],
  ['sessions', 'sessions of agents, each by its id', sessions],
  ['messages', 'messages of sessions, each by its id', messages],
  ['hooks', "record the agent's hook events, and notify of them", hooks],
  ['emulate', 'serve the stand-in platform on a port', emulate],
  ['demo', 'the whole pipeline on the stand-in platform: nothing to configure', demo],
]
