// README's tables of peers: what the last comparison found, and nothing by hand.

const BEGIN = '<!-- peers: written by make bench-peers -->'
const END = '<!-- /peers -->'
const MEGABYTE = 1024 * 1024

export function withTables(readme, result) {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`README.md lacks ${BEGIN} or ${END}`)
  const parts = [landing(result.landing), faults(result.landing), building(result.building)]
  return `${readme.slice(0, begin)}${BEGIN}\n\n${parts.join('\n')}\n${readme.slice(end)}`
}

function landing({ served, tools, ...run }) {
  const head = ['', 'rows a second', 'CPU seconds', 'peak memory', 'requests', 'rows at the end']
  const lines = tools.map((tool) => [
    tool.name,
    number(tool.rows / tool.seconds),
    ...costs(tool),
    number(tool.requests),
    rowsOf(tool, served),
  ])
  return `${number(served)} rows of \`/users\` (${about(run)}):\n\n${table([head, ...lines])}\n${goals(tools)}\n`
}

/** What was reached against the best of dlt's ways, by each figure. */
function goals([ours, ...others]) {
  const dlts = others.filter(({ name }) => name.startsWith('dlt'))
  const best = (figure) => Math.min(...dlts.map((dlt) => dlt[figure]))
  const speed = best('seconds') / ours.seconds
  const memory = ours.peakBytes / best('peakBytes')
  return `The goals are 20 times the rows a second of dlt and a tenth of its memory. Against the best of dlt’s lines above, this run reached ${speed.toFixed(2)} times its rows a second, with ${memory.toFixed(2)} times its memory.`
}

function faults({ served, faults: tools, kinds }) {
  const head = ['', 'runs until complete', 'requests', 'refused', 'lost', 'doubled']
  const lines = tools.map(({ name, runs, isComplete, requests, refused, rows, distinct }) => [
    name,
    isComplete ? number(runs) : `not in ${number(runs)}`,
    number(requests),
    number(refused),
    number(served - distinct),
    number(rows - distinct),
  ])
  return `The same rows, where one page in 50 meets ${kinds.slice(0, -1).join(', ')}, or ${kinds.at(-1)}:\n\n${table([head, ...lines])}`
}

function building({ rows, tools, ...run }) {
  const head = ['', 'seconds', 'CPU seconds', 'peak memory', 'checks']
  const lines = tools.map((tool) => [
    tool.name,
    tool.seconds.toFixed(1),
    ...costs(tool),
    number(tool.checks),
  ])
  return `All models from base, ${number(rows)} user days (${about(run)}):\n\n${table([head, ...lines])}`
}

function about({ at, machine: { cpu, cores, memoryGB }, versions }) {
  const all = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return `${at.slice(0, 10)}, ${cpu}, ${cores} cores, ${memoryGB} GB; ${all.join(', ')}`
}

function costs({ cpuSeconds, peakBytes }) {
  return [cpuSeconds.toFixed(1), `${number(peakBytes / MEGABYTE)} MB`]
}

/** Says so where a tool loses rows or doubles them. */
function rowsOf({ rows, distinct }, served) {
  const faults = [
    ...(distinct < served ? [`${number(served - distinct)} lost`] : []),
    ...(rows > distinct ? [`${number(rows - distinct)} doubled`] : []),
  ]
  return [number(rows), ...faults].join(', ')
}

function number(value) {
  return Math.round(value).toLocaleString('en')
}

function table([head, ...lines]) {
  const widths = head.map((_, i) => Math.max(3, ...[head, ...lines].map((line) => line[i].length)))
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const padded = (line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
  return [padded(head), rule, ...lines.map(padded)]
    .map((line) => `| ${line.join(' | ')} |\n`)
    .join('')
}
