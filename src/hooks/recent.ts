import { createHash } from 'node:crypto'
import { z } from 'zod'
import { readJson, writeAtomic } from '../lib/files.ts'
import type { HookEvent } from './event.ts'

const shape = z.record(z.string(), z.object({ event_id: z.string(), at: z.number() }))

/**
 * What was notified of lately, so that the same again within some seconds is not.
 * The same: event, session, message and reason. Kept between senders; an event
 * that is looked at again after a crash is no repetition of itself.
 */
export class Recent {
  readonly #windowMs: number
  readonly #told: Map<string, { readonly event_id: string; readonly at: number }>

  private constructor(seconds: number, told: z.infer<typeof shape>) {
    this.#windowMs = seconds * 1000
    this.#told = new Map(Object.entries(told))
  }

  static async open(path: string, seconds: number): Promise<Recent> {
    const told = shape.safeParse(await readJson(path, () => undefined)).data ?? {}
    return new Recent(seconds, told)
  }

  /** True where another event said the same not long before. */
  isRepetition(event: HookEvent): boolean {
    const told = this.#told.get(keyOf(event))
    return (
      told !== undefined &&
      told.event_id !== event.eventId &&
      Math.abs(event.recordedAt - told.at) < this.#windowMs
    )
  }

  add(event: HookEvent): void {
    this.#told.set(keyOf(event), { event_id: event.eventId, at: event.recordedAt })
  }

  /** Writes what may still be repeated. */
  async save(path: string, now: number): Promise<void> {
    const kept = [...this.#told].filter(([, { at }]) => Math.abs(now - at) < this.#windowMs)
    await writeAtomic(path, `${JSON.stringify(Object.fromEntries(kept))}\n`)
  }
}

function keyOf({ name, sessionId, message, reason }: HookEvent): string {
  const what = JSON.stringify([name, sessionId, message, reason])
  return createHash('sha256').update(what).digest('hex').slice(0, 32)
}
