/**
 * Work that goes on while the platform is asked for more, of which a bounded amount
 * runs at once. Errors are thrown by the next `add`, and by `ended`.
 */
export class Background {
  readonly #most: number
  readonly #underWay = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | undefined

  constructor(most: number) {
    this.#most = most
  }

  /** Begins the work as soon as there is room. @throws what earlier work threw. */
  async add(work: () => Promise<void>): Promise<void> {
    while (this.#underWay.size >= this.#most) await Promise.race(this.#underWay)
    this.#throwFailure()
    const done = work()
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => this.#underWay.delete(done))
    this.#underWay.add(done)
  }

  /** Resolves when nothing is under way. @throws what some work threw. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay)
    this.#throwFailure()
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}
