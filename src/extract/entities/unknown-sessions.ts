import { join } from 'node:path'
import { z } from 'zod'
import type { Day } from '../../lib/days.ts'
import { pathSegment, readJson, writeAtomic } from '../../lib/files.ts'

/** Nights on which an id that the platform does not know is asked for. */
const PATIENCE = 3

const shape = z.record(
  z.string(),
  z.object({ nights: z.number().int().positive(), last: z.string() }),
)

type Misses = Map<string, z.infer<typeof shape>[string]>

/**
 * Ids of sessions, and of messages, that the platform did not know: they are
 * asked for on three nights, then not any more. `<data>/state/unknown-sessions/<org>.json`.
 */
export class UnknownSessions {
  readonly #path: string
  readonly #misses: Misses
  #isChanged = false

  private constructor(path: string, misses: Misses) {
    this.#path = path
    this.#misses = misses
  }

  static async open(
    dataFolder: string,
    orgId: string,
    warn: (message: string) => void,
  ): Promise<UnknownSessions> {
    const path = join(dataFolder, 'state', 'unknown-sessions', `${pathSegment(orgId)}.json`)
    const known = shape.safeParse(await readJson(path, warn)).data ?? {}
    return new UnknownSessions(path, new Map(Object.entries(known)))
  }

  isGivenUp(id: string): boolean {
    return (this.#misses.get(id)?.nights ?? 0) >= PATIENCE
  }

  missed(id: string, day: Day): void {
    const known = this.#misses.get(id)
    if (known?.last === day) return
    this.#misses.set(id, { nights: (known?.nights ?? 0) + 1, last: day })
    this.#isChanged = true
  }

  found(id: string): void {
    if (this.#misses.delete(id)) this.#isChanged = true
  }

  async save(): Promise<void> {
    if (!this.#isChanged) return
    await writeAtomic(this.#path, `${JSON.stringify(Object.fromEntries(this.#misses), null, 1)}\n`)
    this.#isChanged = false
  }
}
