import type { Entry } from './command.ts'

const run = async () => (await import('./run.ts')).runCommand
const sync = async () => (await import('./run.ts')).syncCommand
const plan = async () => (await import('./plan.ts')).planCommand
const build = async () => (await import('./build.ts')).buildCommand
const rebuild = async () => (await import('./build.ts')).rebuildCommand
const doctor = async () => (await import('./doctor.ts')).doctorCommand
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
  ['run', 'the nightly job: load what is due, build and check the models, publish, export', run],
  ['sync', 'load what is missing or due from the platform into the data folder', sync],
  ['plan', 'show what sync would request, and why', plan],
  ['build', 'build the models from the loaded data, check them, and publish the warehouse', build],
  ['rebuild', 'build ledger, base and warehouse again from raw, without the network', rebuild],
  [
    'doctor',
    'check configuration, key, clock, disk and files, and say how to fix each problem',
    doctor,
  ],
  ['status', 'show what has landed, what is missing, and the last runs', status],
  ['query [sql]', 'run SQL on the published warehouse, or answer a ready-made question', query],
  [
    'tables [name]',
    'list the tables of the published warehouse, or the columns of one table',
    tables,
  ],
  ['export <target>', 'write the marts as Parquet, CSV or DuckDB files', exportMarts],
  ['report', 'write a report with charts as one HTML file, or its findings as text', report],
  ['docs', 'write the documentation of the models as one HTML file: lineage, SQL, columns', docs],
  ['verify', 'fetch some days again and compare the warehouse with them', verify],
  ['rollback', 'publish an earlier warehouse again', rollback],
  ['compact', 'merge the raw files of past months into fewer, larger files', compact],
  ['controls', 'show the settings of the organisation, and who changed them', controls],
  ['limits', 'show and set credit limits', limits],
  ['readiness', 'show readiness reports of repositories', readiness],
  ['computers', 'show and manage computers, the environments that sessions run in', computers],
  ['sessions', 'show and change sessions, by their ids', sessions],
  ['messages', 'show messages of sessions, by their ids', messages],
  ['hooks', "record the agent's hook events, and send notifications", hooks],
  ['emulate', 'start a stand-in for the platform', emulate],
  ['demo', 'run the whole pipeline on a stand-in platform; needs no configuration', demo],
]
