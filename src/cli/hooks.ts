import { command, group } from './registration.ts'

/** `hooks install`, `hooks status` …: what the agent tells of itself while it works. */
export const hooksGroup = group('hooks', "record the agent's hook events, and notify of them", [
  command(
    'install',
    "register the command in the agent's settings file",
    async () => (await import('./hooks-install.ts')).hooksInstallCommand,
  ),
  command(
    'uninstall',
    'take away what install put into the settings file',
    async () => (await import('./hooks-install.ts')).hooksUninstallCommand,
  ),
  command(
    'status',
    'what is registered and can be run, what is recorded, what is not yet delivered',
    async () => (await import('./hooks-status.ts')).hooksStatusCommand,
  ),
  command(
    'test <channel>',
    'send one notification to a channel, and say what came of it',
    async () => (await import('./hooks-send.ts')).hooksTestCommand,
  ),
  command(
    'flush',
    'deliver the notifications that wait',
    async () => (await import('./hooks-send.ts')).hooksFlushCommand,
  ),
  command(
    'run',
    'what is registered: take one event down from standard input',
    async () => (await import('./hooks-run-command.ts')).hooksRunCommand,
  ),
])
