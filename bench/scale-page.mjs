// The page and the picture of what bench/scale.mjs measured.
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { root } from './lib.mjs'

/** What grows on each axis, while the rest stays as it is in `at`. */
export const AXES = [
  { name: 'users', at: { days: 30, organisations: 1 }, unit: '' },
  { name: 'days', at: { users: 1000, organisations: 1 }, unit: '' },
  { name: 'organisations', at: { users: 20, days: 30 }, unit: '' },
]

const COMMANDS = { first: 'First run', nightly: 'Nightly run', full: 'Full refresh' }
const COLOURS = ['#2a78d6', '#c2410c', '#15803d']
const GIGABYTE = 1e9
const HOUR = 3600

/** How many times the largest measured size an estimate may be. */
const TRUSTED = 10

/** `users=1000` as a whole point. @throws Error for what is no point of an axis. */
export function shapeOf(text) {
  const [name, count] = text.split('=')
  const axis = AXES.find((each) => each.name === name)
  if (axis === undefined || !(Number(count) > 0)) {
    throw new Error(
      `'${text}' is no point: use ${AXES.map((each) => `${each.name}=1000`).join(', ')}`,
    )
  }
  return { ...axis.at, [name]: Number(count) }
}

/** The measured points of an axis, the smallest first. */
function pointsOf(measured, axisName) {
  const { at } = AXES.find(({ name }) => name === axisName)
  const isOnIt = (point) => Object.entries(at).every(([key, value]) => point[key] === value)
  return measured.filter(isOnIt).sort((a, b) => a[axisName] - b[axisName])
}

/**
 * By which power of the axis a figure grows: a line through the logarithms, from the points in the
 * upper half of an axis. Null where fewer than two points are measured.
 */
export function exponent(measured, axisName, command, figure) {
  const points = pointsOf(measured, axisName).map((point) => [
    Math.log(point[axisName]),
    Math.log(point[command][figure]),
  ])
  const upper = points.slice(-Math.max(2, Math.ceil(points.length / 2)))
  if (upper.length < 2) return null
  const mean = (at) => upper.reduce((sum, pair) => sum + pair[at], 0) / upper.length
  const [x, y] = [mean(0), mean(1)]
  const across = upper.reduce((sum, pair) => sum + (pair[0] - x) * (pair[1] - y), 0)
  return across / upper.reduce((sum, pair) => sum + (pair[0] - x) ** 2, 0)
}

/**
 * At which size of an axis a figure has a value, if it goes on growing as between the two largest
 * points; infinite if the figure grows by less than a tenth between them, which may be chance.
 */
function sizeAt(measured, axisName, command, figure, value) {
  const [before, last] = pointsOf(measured, axisName).slice(-2)
  const grown = last[command][figure] - before[command][figure]
  if (grown < before[command][figure] / 10) return Infinity
  const left = (value - last[command][figure]) / grown
  return last[axisName] + left * (last[axisName] - before[axisName])
}

export async function writePage(measured) {
  const page = join(root, 'docs', 'scale.md')
  const before = await readFile(page, 'utf8')
  const [start, end] = ['<!-- measured -->', '<!-- end of measured -->']
  const head = before.slice(0, before.indexOf(start) + start.length)
  const tail = before.slice(before.indexOf(end))
  const text = [head, ...AXES.map((axis) => axisText(measured, axis)), sizesText(measured), tail]
  const options = await resolveConfig(page)
  await writeFile(page, await format(text.join('\n\n'), { ...options, filepath: page }))
  await writeFile(join(root, 'assets', 'scale.svg'), picture(measured))
}

function axisText(measured, { name, at }) {
  const rest = Object.entries(at).map(([key, value]) => counted(value, key))
  const rows = pointsOf(measured, name).map((point) => {
    const userDays = point.users * point.days * point.organisations
    const { raw, base, warehouse } = point.bytes
    return [
      whole(point[name]),
      ...Object.keys(COMMANDS).map((key) => takenText(point[key])),
      ...[raw, base, warehouse].map((bytes) => whole(bytes / userDays)),
      point.at.slice(0, 10),
      String(point.machine.cores),
    ]
  })
  const head = [
    name,
    ...Object.values(COMMANDS),
    ...['raw', 'base', 'warehouse'].map((layer) => `${layer}, bytes`),
    'measured',
    'cores',
  ]
  if (rows.length === 0) return `### By ${name}\n\nNo point is measured yet.`
  const power = Object.entries(COMMANDS).flatMap(([key, title]) => {
    const value = exponent(measured, name, key, 'cpuSeconds')
    return value === null ? [] : [`${title.toLowerCase()} ${value.toFixed(2)}`]
  })
  const grows =
    power.length === 0
      ? ''
      : `Growth of CPU seconds, as an exponent of the size: ${power.join(', ')}.`
  return [`### By ${name}`, `With ${rest.join(' and ')}.`, table(head, rows), grows].join('\n\n')
}

function takenText({ cpuSeconds, seconds, peakBytes }) {
  return [cpuSeconds, seconds, peakBytes / 2 ** 20].map(whole).join(' / ')
}

/** At which sizes a command takes an hour of one core, and memory of some sizes. */
function sizesText(measured) {
  const rows = AXES.flatMap(({ name }) =>
    Object.entries(COMMANDS).flatMap(([key, title]) => {
      const points = pointsOf(measured, name)
      if (points.length < 2) return []
      const sizes = [
        sizeAt(measured, name, key, 'cpuSeconds', HOUR),
        ...[4, 16].map((size) => sizeAt(measured, name, key, 'peakBytes', size * GIGABYTE)),
      ]
      const most = points.at(-1)[name]
      return [[name, title, whole(most), ...sizes.map((size) => sizeText(size, most * TRUSTED))]]
    }),
  )
  const head = ['axis', 'command', 'measured up to', '1 h of one core', '4 GB', '16 GB']
  return ['### Extrapolated', table(head, rows)].join('\n\n')
}

function sizeText(size, most) {
  return size > most ? `more than ${whole(most)}` : whole(Number(size.toPrecision(1)))
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    line(head),
    line(head.map((_, at) => (at === 0 ? '---' : '--:'))),
    ...rows.map(line),
  ].join('\n')
}

function counted(count, name) {
  return `${whole(count)} ${count === 1 ? name.replace(/s$/, '') : name}`
}

function whole(value) {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })
}

const [WIDTH, HEIGHT] = [300, 240]

/** CPU seconds and peak memory by each axis, both logarithmic. */
function picture(measured) {
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  const plotOf = (axisName, figure, label, scale) => {
    const rows = pointsOf(measured, axisName).flatMap((point) =>
      Object.entries(COMMANDS).map(([key, command]) => {
        return { x: point[axisName], y: point[key][figure] / scale, command }
      }),
    )
    const marks = { x: 'x', y: 'y', z: 'command', stroke: 'command' }
    return Plot.plot({
      document,
      width: WIDTH,
      height: HEIGHT,
      marginLeft: 52,
      x: { type: 'log', label: axisName, ticks: 4, tickFormat: whole },
      y: { type: 'log', label, ticks: 4, tickFormat: whole, grid: true },
      color: { domain: Object.values(COMMANDS), range: COLOURS },
      marks: [Plot.line(rows, marks), Plot.dot(rows, { ...marks, fill: 'command', r: 2.5 })],
    })
  }
  const figures = [
    ['cpuSeconds', 'CPU seconds', 1],
    ['peakBytes', 'peak memory, MB', 2 ** 20],
  ]
  const plots = figures.flatMap(([figure, label, scale], row) =>
    AXES.map(({ name }, column) => {
      const plot = plotOf(name, figure, label, scale)
      plot.querySelector('style').remove() // it would give a picture in a picture another height
      plot.setAttribute('x', String(column * WIDTH))
      plot.setAttribute('y', String(24 + row * HEIGHT))
      plot.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
      return plot.outerHTML
    }),
  )
  const legend = Object.values(COMMANDS).map((title, at) => {
    const x = 52 + at * 110
    return `<rect x="${x}" y="6" width="10" height="10" fill="${COLOURS[at]}"/><text x="${x + 15}" y="15">${title}</text>`
  })
  const [width, height] = [WIDTH * AXES.length, HEIGHT * figures.length + 24]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>CPU seconds and peak memory by users, days and organisations</title>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...legend,
    ...plots,
    '</svg>\n',
  ].join('\n')
}
