import { join } from 'node:path'

/** Where hooks keep their files, all below `<data>/state/hooks/`. */
export interface HookFolders {
  readonly root: string
  /** Events that are not yet in the lake; `sync` and `build` land and remove them. */
  readonly spool: string
  /** The same events until the rules have been held against them. */
  readonly inbox: string
  /** Notifications that are to be delivered. */
  readonly outbox: string
  /** Notifications that were given up, with the reason. */
  readonly failed: string
  /** When each event came last. */
  readonly last: string
  readonly errorsLog: string
  readonly senderLock: string
  /** What was notified of lately. */
  readonly recent: string
  /** What `hooks install` made in which settings file. */
  readonly installed: string
}

export function hookFolders(dataFolder: string): HookFolders {
  const root = join(dataFolder, 'state', 'hooks')
  return {
    root,
    spool: join(root, 'spool'),
    inbox: join(root, 'inbox'),
    outbox: join(root, 'outbox'),
    failed: join(root, 'failed'),
    last: join(root, 'last'),
    errorsLog: join(root, 'errors.log'),
    senderLock: join(root, 'sender.lock'),
    recent: join(root, 'recent.json'),
    installed: join(root, 'installed.json'),
  }
}
