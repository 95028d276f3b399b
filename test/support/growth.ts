const PIECES = 10

/** Below it work is linear in the length: quadratic work grows by `PIECES`, linear work by about 1. */
export const LINEAR = 4

/** Longer than the bounds of patterns, and short enough that quadratic work ends within seconds. */
const PIECE = 10_000

/**
 * How much more CPU time `work` takes for a text, the unit repeated, than for its pieces one after
 * the other. It is a ratio of two measurements made together, so that neither the machine nor its
 * load decides; the least of a few, because a disturbance only adds to it.
 */
export function growthOf(work: (text: string) => unknown, unit: string): number {
  const piece = repeated(unit, PIECE)
  const whole = repeated(unit, PIECE * PIECES)
  work(piece) // compiles it
  let growth = Infinity
  for (let attempt = 0; attempt < 3 && growth >= LINEAR; attempt += 1) {
    const ofPieces = cpuTime(() => {
      for (let count = 0; count < PIECES; count += 1) work(piece)
    })
    growth = Math.min(growth, cpuTime(() => work(whole)) / ofPieces)
  }
  return growth
}

/** A text of at least `length` characters. */
export function repeated(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length))
}

function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
