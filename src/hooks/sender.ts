import { LockedError } from '../lib/errors.ts'
import { lockFile, type Lease } from '../lib/lock.ts'
import type { World } from '../lib/world.ts'
import { reasonOf, refused, type Attempt, type Delivery } from '../notify/channel.ts'
import { deliver } from '../notify/deliver.ts'
import { channelNamed, type HooksConfig } from './config.ts'
import {
  giveUp,
  inboxNames,
  putIntoOutbox,
  readItems,
  removeFromOutbox,
  requeueFailed,
  takeInbox,
  type Notification,
} from './queue.ts'
import { MAX_LOCK_AGE_MS, type HookFolders } from './record.ts'

/** A notification that could not be delivered within this time is given up. */
export const PATIENCE_HOURS = 24

/** The waits after the first attempt, the second, and so on; the last one repeats. */
const WAITS_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000]

/** Before a longer wait the sender ends; the next event, `sync` or `hooks flush` starts another. */
const LONGEST_STAY_MS = 60_000

/** How often the inbox is read for new events, which start no other sender. */
const POLL_MS = 250

export interface Sending extends Delivery {
  readonly world: Pick<World, 'fetch' | 'now' | 'hangUp' | 'signal' | 'sleep' | 'random'>
  readonly folders: HookFolders
  readonly config: HooksConfig
  /** Also delivers notifications that were given up. */
  readonly retryFailed?: boolean
}

export type Sent = Readonly<Awaited<ReturnType<typeof send>>>

/**
 * Delivers all notifications, including those that come meanwhile, until none is left or
 * the next attempt is far off. Only the holder of the lock delivers; the lease of a dead
 * sender is taken over. A notification is removed after its delivery, so the last one of
 * a killed sender is delivered again, under the same id (at least once).
 *
 * @returns how many were delivered and given up; `isOwn`: false if another sender delivers instead.
 */
export async function send({ retryFailed = false, ...sending }: Sending) {
  const { folders, world } = sending
  const counts = { delivered: 0, failed: 0 }
  let isFirst = true
  do {
    try {
      const lease = await lockFile(folders.senderLock, {
        runId: `sender-${process.pid}-${world.now()}`,
        world,
        warn: () => undefined,
        beatMs: MAX_LOCK_AGE_MS / 5,
      })
      try {
        // Under the lock, because another sender that gives a notification up removes it from the outbox.
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
    // An event that came while the lock was held has started no sender, so the inbox is read again.
  } while (!world.signal.aborted && (await inboxNames(folders)).length > 0)
  return { ...counts, isOwn: true }
}

class Sender {
  readonly #sending: Sending
  readonly #lease: Lease
  readonly #counts: { delivered: number; failed: number }
  /** The outbox, by id. */
  readonly #items = new Map<string, Notification>()
  /** The attempt of each channel: one at a time, to spare a receiver that is down. */
  readonly #underWay = new Map<string, Promise<void>>()
  /** When the next attempt of each channel may begin. */
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
      // A signal ends the pause; then only running attempts are awaited.
      const pause = world.signal.aborted
        ? []
        : [world.sleep(POLL_MS, world.signal).catch(() => undefined)]
      await Promise.race([...underWay, ...pause])
      this.#lease.confirm()
    }
  }

  /** No attempt is scheduled later than PATIENCE_HOURS, unless by a sender whose clock was ahead. */
  #add(items: readonly Notification[]): void {
    const now = this.#sending.world.now()
    const latest = now + PATIENCE_HOURS * 3_600_000
    for (const item of items) {
      const isOfWrongClock = item.next_at > latest
      this.#items.set(item.id, isOfWrongClock ? { ...item, queued_at: now, next_at: now } : item)
    }
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
    const channel = channelNamed(config, item.channel)
    const attempt = await (channel === undefined
      ? refused('the channel is no longer in the configuration')
      : deliver(channel, item, this.#sending).catch((error: unknown) => refused(reasonOf(error))))
    this.#items.delete(item.id)
    if (attempt.kind === 'delivered') {
      this.#counts.delivered += 1
      await removeFromOutbox(folders, item)
      return
    }
    await this.#putOff({ ...item, attempts: item.attempts + 1, error: attempt.reason }, attempt)
  }

  /** Schedules the next attempt, or gives the notification up if none would help or it is too old. */
  async #putOff(
    item: Notification,
    attempt: Exclude<Attempt, { kind: 'delivered' }>,
  ): Promise<void> {
    const { folders, world } = this.#sending
    const isLater = attempt.kind === 'later'
    const next_at = isLater ? world.now() + this.#waitFor(item, attempt.waitMs) : Infinity
    const end_at = item.queued_at + PATIENCE_HOURS * 3_600_000
    if (next_at < end_at) {
      const next = { ...item, next_at }
      await putIntoOutbox(folders, next)
      this.#items.set(item.id, next)
      this.#rests.set(item.channel, next_at)
      return
    }
    this.#counts.failed += 1
    const isAsked =
      isLater && attempt.waitMs !== undefined && world.now() + attempt.waitMs >= end_at
    const after = isAsked ? ', because the receiver asks for a wait that ends' : ''
    const end = isLater ? `given up${after} after ${PATIENCE_HOURS} h: ` : ''
    await giveUp(folders, { ...item, error: `${end}${attempt.reason}` })
  }

  /** The wait that the receiver asks for, or our own if that is longer. */
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
