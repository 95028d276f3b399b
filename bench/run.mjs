// npm run bench [-- land memory …]: builds, runs each bench in its own process, prints the figures
// beside their targets and writes bench-results/latest.json. Fails when a bench breaks, not when it is slow.
import { fork, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { benchFolder, root } from './lib.mjs'

const BENCHES = ['land', 'governor', 'memory', 'idle', 'build', 'models', 'nightly', 'hooks']

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !BENCHES.includes(name))
if (unknown !== undefined) {
  process.stderr.write(`there is no bench '${unknown}': use ${BENCHES.join(', ')}\n`)
  process.exit(2)
}

buildDist()
const results = []
for (const name of wanted.length === 0 ? BENCHES : wanted) {
  process.stderr.write(`bench ${name}\n`)
  results.push({ name, ...(await runBench(name)) })
}
process.stdout.write(table(results))
save(results)
if (results.some(({ isBroken }) => isBroken)) process.exitCode = 1

function buildDist() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  })
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
      verdict(figure),
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
  if (least !== undefined) return `≥ ${shown(least)}`
  return most === undefined ? '' : `≤ ${shown(most)}`
}

function verdict({ value, least, most }) {
  if (least === undefined && most === undefined) return ''
  return value >= (least ?? value) && value <= (most ?? value) ? 'PASS' : 'MISS'
}

function save(benches) {
  const folder = join(benchFolder, '..', 'bench-results')
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 1024 ** 3),
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
  }
  mkdirSync(folder, { recursive: true })
  const content = { at: new Date().toISOString(), machine, benches }
  writeFileSync(join(folder, 'latest.json'), `${JSON.stringify(content, null, 2)}\n`)
}
