/** What waits for others, by their names. */
export interface Step {
  readonly name: string
  readonly dependsOn: readonly string[]
}

/**
 * Works through the steps, one at a time in each lane: the earliest of those
 * that wait for none. A dependency that is no step is there already. After an
 * error nothing more begins; it is thrown when what is under way has ended.
 *
 * @param steps without a cycle.
 */
export async function runScheduled<T extends Step, Lane>(
  steps: readonly T[],
  laneOf: (step: T) => Lane,
  work: (step: T) => Promise<void>,
): Promise<void> {
  const lanes = new Set(steps.map(laneOf))
  const unfinished = new Set(steps.map(({ name }) => name))
  const waiting = [...steps]
  const underWay = new Map<Lane, Promise<unknown>>()
  const failures: unknown[] = []
  const isReady = ({ dependsOn }: T): boolean => !dependsOn.some((name) => unfinished.has(name))
  const begin = (lane: Lane, step: T): void => {
    waiting.splice(waiting.indexOf(step), 1)
    const working = work(step)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        underWay.delete(lane)
        unfinished.delete(step.name)
      })
    underWay.set(lane, working)
  }
  while (unfinished.size > 0 && failures.length === 0) {
    for (const lane of lanes) {
      const next = waiting.find((step) => laneOf(step) === lane && isReady(step))
      if (next !== undefined && !underWay.has(lane)) begin(lane, next)
    }
    await Promise.race(underWay.values())
  }
  await Promise.all(underWay.values())
  if (failures.length > 0) throw failures[0]
}
