import { command } from '../command.ts'
import {
  deleteComputer,
  installDependencies,
  refreshComputer,
  restartComputer,
  waitForComputer,
} from './computer-actions.ts'
import { listComputers, showComputer, showMetrics } from './computers.ts'
import { diffControls, listControls, showControls } from './controls.ts'
import { listLimits, removeLimits, setGlobalLimit, setLimit } from './limits.ts'
import { showMessage, interruptSession, showSession, watchSession } from './sessions.ts'
import { listReadiness, showReadiness } from './readiness.ts'
import { updateSession } from './session-update.ts'

export const controls = [
  command('list', 'the last revisions', listControls),
  command('show <revision>', 'every setting of one revision', showControls),
  command('diff <a> [b]', 'what a revision changed, or how two revisions differ', diffControls),
]

export const limits = [
  command('list', 'the global limit, and those of users', listLimits),
  command('set [email] [limit]', 'set the limit of a user, or of many from a file', setLimit),
  command(
    'set-global <limit>',
    'set the limit of every user without one of their own',
    setGlobalLimit,
  ),
  command('remove <emails..>', 'remove the limits that users have of their own', removeLimits),
]

export const readiness = [
  command('list', 'the reports, the newest first', listReadiness),
  command('show <report>', 'every criterion of one report', showReadiness),
]

export const computers = [
  command('list', 'all of the organisation', listComputers),
  command('show <computer>', 'one, with the steps of its provisioning', showComputer),
  command('metrics <computer>', 'its samples of processor, memory and disk', showMetrics),
  command('install-deps <computer>', 'install its dependencies again', installDependencies),
  command('refresh <computer>', 'set up its credentials and environment again', refreshComputer),
  command('restart <computer>', 'restart a managed one', restartComputer),
  command('delete <computer>', 'delete one', deleteComputer),
  command(
    'wait <computer>',
    'wait until it is active or in error, and its install is over',
    waitForComputer,
  ),
]

export const sessions = [
  command('show <session>', 'its state, tokens and tags', showSession),
  command('update <session>', 'change its model, tags and other settings', updateSession),
  command('interrupt <session>', 'end what its agent is doing', interruptSession),
  command('watch <session>', 'wait until it is idle', watchSession),
]

export const messages = [
  command('show <session> <message>', 'who wrote it, when, and the text', showMessage),
]
