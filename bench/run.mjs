// npm run bench [-- land memory …]: compiles, runs each bench in its own process, prints the figures
// with their targets, and adds them to bench/figures.json. Fails if a bench breaks, if a figure
// misses its target, or if it is worse by a tenth than the last one on a machine of this kind.
// With --short: see short.mjs.
import { fork, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { verdictOf, withRun, worsened } from './figures.mjs'
import { allFolders, benchFolder, CHROMIUM, machineHere, root } from './lib.mjs'
import { installPython } from './python.mjs'

const BENCHES = [
  'land',
  'first',
  'governor',
  'memory',
  'idle',
  'build',
  'models',
  'report',
  'forecast',
  'nightly',
  'fleet',
  'scale',
  'hooks',
  'peers',
]

/** Packages of Python that a bench needs: a list for each environment. */
const PACKAGES = {
  models: ['test/dbt/requirements.txt', 'bench/peers/sqlmesh.txt'],
  peers: ['bench/peers/dlt.txt', 'bench/peers/singer.txt'],
}

if (process.argv.includes('--short')) {
  const { values } = parseArgs({
    options: {
      short: { type: 'boolean' },
      repeat: { type: 'string', default: '1' },
      keep: { type: 'boolean', default: false },
    },
  })
  buildDist()
  const { runShort } = await import('./short.mjs')
  const repeat = Math.max(1, Number(values.repeat) || 1)
  process.exit((await runShort({ ...values, repeat })) ? 0 : 1)
}

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !BENCHES.includes(name))
if (unknown !== undefined) {
  process.stderr.write(`there is no bench '${unknown}': use ${BENCHES.join(', ')}\n`)
  process.exit(2)
}

const chosen = wanted.length === 0 ? BENCHES : wanted
for (const name of chosen) if (name in PACKAGES) installPackages(name)
if (chosen.includes('report') && !existsSync(CHROMIUM)) {
  const advice = 'install Chromium (`make test-browser` does), or set CHROMIUM to its path'
  process.stderr.write(`bench report: ${CHROMIUM} is missing: ${advice}\n`)
  process.exit(2)
}
buildDist()
allFolders() // the benches use the same
const results = []
for (const name of chosen) {
  process.stderr.write(`bench ${name}\n`)
  results.push({ name, ...(await runBench(name)) })
}
process.stdout.write(table(results))
const path = join(benchFolder, 'figures.json')
const runs = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
const run = runOf(results)
const worse = worsened(results, runs, run.machine)
for (const each of worse) process.stdout.write(`${worseLine(each)}\n`)
writeFileSync(path, `${JSON.stringify(withRun(runs, run), null, 2)}\n`)
const isMissed = results.some(({ figures }) => figures.some((each) => verdictOf(each) === 'MISS'))
if (isMissed || worse.length > 0 || results.some(({ isBroken }) => isBroken)) process.exitCode = 1

/** Installs what a bench needs before the first one starts, so that a failure is reported at once. */
function installPackages(name) {
  try {
    for (const list of PACKAGES[name]) installPython(join(root, list))
  } catch (error) {
    process.stderr.write(`bench ${name}: ${error.message}\n`)
    process.exit(2)
  }
}

function buildDist() {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

function runBench(name) {
  return new Promise((resolve) => {
    let figures = []
    const child = fork(join(benchFolder, `${name}.mjs`))
    child.on('message', (message) => {
      figures = message
    })
    child.once('close', (code) =>
      resolve({ figures, isBroken: code !== 0 || figures.length === 0 }),
    )
  })
}

function table(benches) {
  const lines = benches.flatMap(({ name, figures, isBroken }) => [
    ...figures.map((figure) => [
      name,
      figure.name,
      `${shown(figure.value)} ${figure.unit}`,
      target(figure),
      verdictOf(figure),
    ]),
    ...(isBroken ? [[name, 'broken: see above', '', '', 'BROKEN']] : []),
  ])
  const head = ['bench', 'figure', 'value', 'target', '']
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((line) => line[i].length)))
  return [head, ...lines]
    .map(
      (line) =>
        line
          .map((cell, i) => cell.padEnd(widths[i]))
          .join('  ')
          .trimEnd() + '\n',
    )
    .join('')
}

function shown(value) {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 })
}

function target({ least, most }) {
  if (least !== undefined && most !== undefined) return `${shown(least)} to ${shown(most)}`
  if (least !== undefined) return `≥ ${shown(least)}`
  return most === undefined ? '' : `≤ ${shown(most)}`
}

function worseLine({ bench, figure, commit, before, ratio }) {
  const [value, last] = [shown(figure.value), shown(before.value)]
  const share = Math.round((ratio - 1) * 100)
  return `WORSE by ${share} %: ${bench}, ${figure.name}: ${value} ${figure.unit} (${last} at ${commit})`
}

function runOf(benches) {
  const machine = { ...machineHere(), node: process.version }
  const whole = benches.filter(({ isBroken }) => !isBroken)
  const told = whole.map(({ name, figures }) => ({ name, figures: figures.map(rounded) }))
  return { at: new Date().toISOString(), commit: commitOf(), machine, benches: told }
}

function rounded(figure) {
  return { ...figure, value: Number(figure.value.toPrecision(4)) }
}

/** Abbreviated, with a plus if there are uncommitted changes. */
function commitOf() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim()
  const changes = git('status', '--porcelain', '--', '.', ':!bench/figures.json')
  return `${git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : '+'}`
}
