import { LockedError } from '../lib/errors.ts'
import { lockFile, type Lease } from '../lib/lock.ts'
import type { World } from '../lib/world.ts'
import { reasonOf, refused, type Attempt, type Delivery } from '../notify/attempt.ts'
import { deliver } from '../notify/deliver.ts'
import type { HooksConfig } from './config.ts'
import { inboxNames, removeLeftovers, takeInbox } from './inbox.ts'
import {
  giveUp,
  putIntoOutbox,
  readItems,
  removeFromOutbox,
  requeueFailed,
  type Notification,
} from './outbox.ts'
import type { HookFolders } from './record.ts'
import { LOCK_IS_FRESH_MS } from './sender-start.ts'

/** A notification that could not be delivered for so long is given up. */
export const PATIENCE_HOURS = 24

/** How long to wait after the first attempt, the second …, the last one over and over. */
const WAITS_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000]

/** A sender does not stay for a longer wait; the next event, `sync` or `hooks flush` goes on. */
const LONGEST_STAY_MS = 60_000

/** How often the inbox is looked at: an event that comes meanwhile starts no other sender. */
const POLL_MS = 250

export interface Sending extends Delivery {
  readonly world: Pick<World, 'fetch' | 'now' | 'hangUp' | 'signal' | 'sleep' | 'random'>
  readonly folders: HookFolders
  readonly config: HooksConfig
  /** Also delivers what was given up. */
  readonly retryFailed?: boolean
}

/** What came of the notifications while a sender was at work. */
export interface Sent {
  readonly delivered: number
  readonly failed: number
  /** False where another sender is at work already, and does it. */
  readonly isOwn: boolean
}

/**
 * Delivers what there is to deliver, and what comes meanwhile, until nothing is
 * left or the next attempt is far off. One sender at a time: who gets the lock;
 * the lease of a dead one is taken over. A notification leaves the outbox after
 * it was delivered, so a killed sender's last ones are delivered again, under the
 * same id (at least once).
 */
export async function send({ retryFailed = false, ...sending }: Sending): Promise<Sent> {
  const { folders, world } = sending
  const counts = { delivered: 0, failed: 0 }
  let isFirst = true
  do {
    try {
      const lease = await lockFile(folders.senderLock, {
        runId: `sender-${process.pid}-${world.now()}`,
        world,
        warn: () => undefined,
        beatMs: LOCK_IS_FRESH_MS / 5,
      })
      try {
        await removeLeftovers(folders, world.now())
        // Under the lock: a sender that is just giving a notification up would remove the queued one.
        if (retryFailed && isFirst) await requeueFailed(folders, world.now())
        await new Sender(sending, lease, counts).run()
      } finally {
        await lease.release()
      }
    } catch (error) {
      if (!(error instanceof LockedError)) throw error
      return { ...counts, isOwn: counts.delivered + counts.failed > 0 }
    }
    isFirst = false
    // An event that came while the lock was still held has started no sender: the inbox is read once more.
  } while (!world.signal.aborted && (await inboxNames(folders)).length > 0)
  return { ...counts, isOwn: true }
}

class Sender {
  readonly #sending: Sending
  readonly #lease: Lease
  readonly #counts: { delivered: number; failed: number }
  /** By id. The outbox on disk is the same. */
  readonly #items = new Map<string, Notification>()
  /** By channel: one attempt at a time, so that a receiver that is down gets no heap of them. */
  readonly #underWay = new Map<string, Promise<void>>()
  /** By channel: not before. */
  readonly #rests = new Map<string, number>()

  constructor(sending: Sending, lease: Lease, counts: { delivered: number; failed: number }) {
    this.#sending = sending
    this.#lease = lease
    this.#counts = counts
  }

  async run(): Promise<void> {
    const { folders, config, world } = this.#sending
    this.#add(await readItems(folders.outbox))
    for (;;) {
      this.#add(await takeInbox(folders, config, world.now()))
      if (!world.signal.aborted) this.#begin()
      const underWay = [...this.#underWay.values()]
      if (underWay.length === 0 && (world.signal.aborted || this.#waitMs() > LONGEST_STAY_MS)) break
      // Ends early at a signal; then only what is under way is waited for.
      const pause = world.signal.aborted
        ? []
        : [world.sleep(POLL_MS, world.signal).catch(() => undefined)]
      await Promise.race([...underWay, ...pause])
      this.#lease.confirm()
    }
  }

  #add(items: readonly Notification[]): void {
    for (const item of items) this.#items.set(item.id, item)
  }

  #begin(): void {
    const now = this.#sending.world.now()
    const due = [...this.#items.values()]
      .filter((item) => this.#dueAt(item) <= now)
      .sort((a, b) => a.attempts - b.attempts)
    for (const item of due) {
      if (this.#underWay.has(item.channel)) continue
      const attempt = this.#try(item).finally(() => this.#underWay.delete(item.channel))
      this.#underWay.set(item.channel, attempt)
    }
  }

  async #try(item: Notification): Promise<void> {
    const { config, folders } = this.#sending
    const channel = config.channels[item.channel]
    const attempt = await (channel === undefined
      ? refused('the configuration has no such channel any more')
      : deliver(channel, item, this.#sending).catch((error: unknown) => refused(reasonOf(error))))
    this.#items.delete(item.id)
    if (attempt.kind === 'delivered') {
      this.#counts.delivered += 1
      await removeFromOutbox(folders, item)
      return
    }
    await this.#putOff({ ...item, attempts: item.attempts + 1, error: attempt.reason }, attempt)
  }

  /** Until the next attempt; for good where none would help, or patience has ended. */
  async #putOff(
    item: Notification,
    attempt: Exclude<Attempt, { kind: 'delivered' }>,
  ): Promise<void> {
    const { folders, world } = this.#sending
    const isLater = attempt.kind === 'later'
    const next_at = isLater ? world.now() + this.#waitFor(item, attempt.waitMs) : Infinity
    if (next_at - item.queued_at < PATIENCE_HOURS * 3_600_000) {
      const next = { ...item, next_at }
      await putIntoOutbox(folders, next)
      this.#items.set(item.id, next)
      this.#rests.set(item.channel, next_at)
      return
    }
    this.#counts.failed += 1
    const end = isLater ? `given up after ${PATIENCE_HOURS} h: ` : ''
    await giveUp(folders, { ...item, error: `${end}${attempt.reason}` })
  }

  /** A receiver's own word counts, but not for less than is decent. */
  #waitFor({ attempts }: Notification, askedMs = 0): number {
    const wait = WAITS_MS[Math.min(attempts, WAITS_MS.length) - 1] ?? 0
    return Math.max(askedMs, wait * (0.8 + 0.4 * this.#sending.world.random()))
  }

  #dueAt({ channel, next_at }: Notification): number {
    return Math.max(next_at, this.#rests.get(channel) ?? 0)
  }

  #waitMs(): number {
    const due = [...this.#items.values()].map((item) => this.#dueAt(item))
    return Math.min(Infinity, ...due) - this.#sending.world.now()
  }
}
