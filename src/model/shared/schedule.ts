interface Step {
  readonly name: string
  readonly dependsOn: readonly string[]
  /** Whether it runs in the first lane only. */
  readonly isPinned: boolean
}

/**
 * Runs the steps, one at a time in each lane: the earliest that is ready, in the first lane a
 * pinned one before others. A dependency that is not a step counts as done. After an error, no
 * step starts; the error is thrown when the running steps have ended.
 *
 * @param steps without a cycle.
 */
export async function runScheduled<T extends Step, Lane>(
  steps: readonly T[],
  lanes: readonly [Lane, ...Lane[]],
  work: (step: T, lane: Lane) => Promise<void>,
): Promise<void> {
  const [firstLane] = lanes
  const unfinished = new Set(steps.map(({ name }) => name))
  const waiting = [...steps]
  const underWay = new Map<Lane, Promise<unknown>>()
  const failures: unknown[] = []
  const isReady = ({ dependsOn }: T): boolean => !dependsOn.some((name) => unfinished.has(name))
  const nextOf = (lane: Lane): T | undefined => {
    const ready = waiting.filter(isReady)
    const pinned = ready.find(({ isPinned }) => isPinned)
    const other = ready.find(({ isPinned }) => !isPinned)
    return lane === firstLane ? (pinned ?? other) : other
  }
  const begin = (lane: Lane, step: T): void => {
    waiting.splice(waiting.indexOf(step), 1)
    const working = work(step, lane)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        underWay.delete(lane)
        unfinished.delete(step.name)
      })
    underWay.set(lane, working)
  }
  while (unfinished.size > 0 && failures.length === 0) {
    for (const lane of lanes) {
      const next = underWay.has(lane) ? undefined : nextOf(lane)
      if (next !== undefined) begin(lane, next)
    }
    await Promise.race(underWay.values())
  }
  await Promise.all(underWay.values())
  if (failures.length > 0) throw failures[0]
}
