// Compares figures with their targets and with the last run on a machine of the same kind. A
// figure without a target only describes the run.

/** Runs that the tracked file keeps for each kind of machine. */
const RUNS_KEPT = 10

/** A figure that is worse than the last one by more than this share is reported. */
const TOLERANCE = 0.1

export function verdictOf({ value, least, most }) {
  if (least === undefined && most === undefined) return ''
  return value >= (least ?? value) && value <= (most ?? value) ? 'PASS' : 'MISS'
}

/** How much worse a figure is than before, as a ratio above 1; 1 if it is not worse. */
export function worseBy(figure, before) {
  if (verdictOf(figure) === '' || before === undefined || before.value <= 0) return 1
  const ratio =
    figure.least === undefined ? figure.value / before.value : before.value / figure.value
  return Math.max(1, ratio)
}

/** The figures with a target that are worse than the last on such a machine by more than a tenth. */
export function worsened(benches, runs, machine) {
  return benches.flatMap(({ name, figures }) =>
    figures.flatMap((figure) => {
      const last = lastOf(runs, machine, name, figure.name)
      const ratio = worseBy(figure, last?.before)
      return ratio > 1 + TOLERANCE ? [{ bench: name, figure, ...last, ratio }] : []
    }),
  )
}

/** The last value of a figure on such a machine, with its date. */
function lastOf(runs, machine, bench, name) {
  for (const run of runs.toReversed().filter((each) => isSame(each.machine, machine))) {
    const own = run.benches.find((each) => each.name === bench)
    const before = own?.figures.find((each) => each.name === name)
    if (before !== undefined) return { commit: run.commit, before }
  }
  return undefined
}

/** A bound is this multiple of today's ratio: wide enough for noise, and below a slowdown by two. */
const ROOM = 1.6

/** The bounds of ratios by name, from the ratios of some runs. */
export function boundsOf(runs) {
  const bound = (name) => median(runs.map((run) => run[name])) * ROOM
  return Object.fromEntries(
    Object.keys(runs[0]).map((name) => [name, Number(bound(name).toPrecision(3))]),
  )
}

/** How many ratios exceed the bound; without a bound, all do. */
export function beyond(ratios, bound) {
  return ratios.filter((each) => !(each <= bound)).length
}

export function median(values) {
  const inOrder = [...values].sort((a, b) => a - b)
  const middle = Math.floor(inOrder.length / 2)
  if (inOrder.length % 2 === 1) return inOrder[middle]
  return (inOrder[middle - 1] + inOrder[middle]) / 2
}

/** Adds a run, and removes the oldest of the same kind of machine. */
export function withRun(runs, run) {
  const all = [...runs, run]
  const alike = all.filter(({ machine }) => isSame(machine, run.machine))
  return alike.length > RUNS_KEPT ? all.filter((each) => each !== alike[0]) : all
}

/** Ignores the version of Node.js: a slower version should be noticed. */
function isSame(a, b) {
  return a.cpu === b.cpu && a.cores === b.cores && a.platform === b.platform
}
