import { command, group, type Registration } from '../registration.ts'

/** The resources of the platform beside analytics: what there is to see, and to do. */
export const PLATFORM_GROUPS: readonly Registration[] = [
  group('controls', 'the settings of the organisation, and who changed them', [
    command('list', 'the last revisions', async () => (await import('./controls.ts')).listControls),
    command(
      'show <revision>',
      'every setting of one revision',
      async () => (await import('./controls.ts')).showControls,
    ),
    command(
      'diff <a> [b]',
      'what a revision changed, or what is otherwise in another one',
      async () => (await import('./controls.ts')).diffControls,
    ),
  ]),
  group('limits', 'limits of credits, for all and for each user', [
    command(
      'list',
      'the global limit, and those of users',
      async () => (await import('./limits.ts')).listLimits,
    ),
    command(
      'set [email] [limit]',
      'set the limit of a user, or of many from a file',
      async () => (await import('./limits.ts')).setLimit,
    ),
    command(
      'set-global <limit>',
      'set the limit of every user without one of their own',
      async () => (await import('./limits.ts')).setGlobalLimit,
    ),
    command(
      'remove <emails..>',
      'remove the limits that users have of their own',
      async () => (await import('./limits.ts')).removeLimits,
    ),
  ]),
  group('readiness', 'readiness reports of repositories', [
    command(
      'list',
      'the reports, the newest first',
      async () => (await import('./readiness.ts')).listReadiness,
    ),
    command(
      'show <report>',
      'every criterion of one report',
      async () => (await import('./readiness.ts')).showReadiness,
    ),
  ]),
  group('computers', 'persistent environments that sessions run in', [
    command(
      'list',
      'all of the organisation',
      async () => (await import('./computers.ts')).listComputers,
    ),
    command(
      'show <computer>',
      'one, with the steps of its provisioning',
      async () => (await import('./computers.ts')).showComputer,
    ),
    command(
      'metrics <computer>',
      'its samples of processor, memory and disk',
      async () => (await import('./computers.ts')).showMetrics,
    ),
    command(
      'install-deps <computer>',
      'install its dependencies again',
      async () => (await import('./computer-actions.ts')).installDependencies,
    ),
    command(
      'refresh <computer>',
      'set up its credentials and environment anew',
      async () => (await import('./computer-actions.ts')).refreshComputer,
    ),
    command(
      'restart <computer>',
      'restart a managed one',
      async () => (await import('./computer-actions.ts')).restartComputer,
    ),
    command(
      'delete <computer>',
      'delete one',
      async () => (await import('./computer-actions.ts')).deleteComputer,
    ),
    command(
      'wait <computer>',
      'wait until it is active or in error, and its install is over',
      async () => (await import('./computer-wait.ts')).waitForComputer,
    ),
  ]),
  group('sessions', 'sessions of agents, each by its id', [
    command(
      'show <session>',
      'its state, tokens and tags',
      async () => (await import('./sessions.ts')).showSession,
    ),
    command(
      'update <session>',
      'change its model, tags and other settings',
      async () => (await import('./session-update.ts')).updateSession,
    ),
    command(
      'interrupt <session>',
      'end what its agent is doing',
      async () => (await import('./sessions.ts')).interruptSession,
    ),
    command(
      'watch <session>',
      'wait until it is idle',
      async () => (await import('./sessions.ts')).watchSession,
    ),
  ]),
  group('messages', 'messages of sessions, each by its id', [
    command(
      'show <session> <message>',
      'who wrote it, when, and the text',
      async () => (await import('./messages.ts')).showMessage,
    ),
  ]),
]
