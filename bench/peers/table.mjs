// README's table of peers: what the last comparison found, and nothing by hand.

const BEGIN = '<!-- peers: written by make bench-peers -->'
const END = '<!-- /peers -->'
const MEGABYTE = 1024 * 1024
const HEAD = ['', 'rows a second', 'CPU seconds', 'peak memory', 'requests', 'rows at the end']

export function withTable(readme, result) {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`README.md lacks ${BEGIN} or ${END}`)
  return `${readme.slice(0, begin)}${BEGIN}\n\n${textOf(result)}\n${readme.slice(end)}`
}

function textOf({ at, machine, versions, command, served, tools }) {
  const cells = tools.map((tool) => [
    tool.name,
    number(tool.rows / tool.seconds),
    tool.cpuSeconds.toFixed(1),
    `${number(tool.peakBytes / MEGABYTE)} MB`,
    number(tool.requests),
    rowsOf(tool, served),
  ])
  const all = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const { cpu, cores, memoryGB } = machine
  return `${number(served)} rows of \`/users\`, ${at.slice(0, 10)}, ${cpu}, ${cores} cores, ${memoryGB} GB, \`${command}\`; ${all.join(', ')}:

${table([HEAD, ...cells])}`
}

/** A tool that loses or doubles rows is said to. */
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
