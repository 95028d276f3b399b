import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const benchFolder = dirname(fileURLToPath(import.meta.url))
export const root = dirname(benchFolder)

/** The browser that opens the report. */
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** The first day of the platform's history. */
export const HISTORY_BEGINS = '2026-01-14'

const MS_PER_DAY = 86_400_000

export function addDays(day, count) {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * MS_PER_DAY).toISOString().slice(0, 10)
}

export function yesterday() {
  return new Date(Date.now() - MS_PER_DAY).toISOString().slice(0, 10)
}

export function daysBetween(first, last) {
  return Math.round((Date.parse(last) - Date.parse(first)) / MS_PER_DAY)
}

/** Runs `work` with a folder that is discarded afterwards. */
export async function withFolder(work) {
  const folder = await mkdtemp(join(allFolders(), 'folder-'))
  try {
    return await work(folder)
  } finally {
    await discard(folder)
  }
}

/**
 * Moves a folder out of the way, and empties its large files. It is deleted when all benchmarks
 * have ended: for minutes, ext4 does not use the inodes of deleted files again, and passes over each
 * of them for each new file. A first night after a deleted one took half as long again.
 */
export async function discard(folder) {
  const discarded = join(await mkdtemp(join(allFolders(), 'discarded-')), basename(folder))
  await rename(folder, discarded)
  for (const entry of await readdir(discarded, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || (await stat(path)).size < LARGE) continue
    await chmod(path, 0o600)
    await truncate(path)
  }
}

/** In bytes. */
const LARGE = 1_000_000

/** The folder of all folders. The first process makes it, and deletes it at its end. */
export function allFolders() {
  if (process.env.BENCH_FOLDERS === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'agent-warehouse-bench-'))
    process.env.BENCH_FOLDERS = made
    process.on('exit', () => rmSync(made, { recursive: true, force: true }))
  }
  return process.env.BENCH_FOLDERS
}

/**
 * Runs `work` with a stand-in platform of that many people in another process.
 * `now` sets its clock (milliseconds since the epoch; default: the real clock). `areSteady`: every
 * person is active every day. `organisations`: each has that many people. `requests` returns the
 * last 10,000 requests.
 */
export function withPlatform(users, work, { now = '', areSteady = false, organisations = 1 } = {}) {
  const kind = areSteady ? 'steady' : ''
  return withServer('platform.mjs', [users, now, kind, organisations].map(String), work)
}

/** A configuration that lists the platform's organisations, each with its key in a file. */
export async function configureOrganisations(folder, { url, keys }) {
  await mkdir(join(folder, 'keys'), { recursive: true, mode: 0o700 })
  for (const [at, key] of keys.entries()) {
    await writeFile(join(folder, 'keys', String(at + 1)), key, { mode: 0o600 })
  }
  const lines = keys.map((_, at) => `organisation ${at + 1},${url},keys/${at + 1}`)
  await writeFile(
    join(folder, 'organisations.csv'),
    ['name,base_url,key_file', ...lines, ''].join('\n'),
  )
  await writeFile(join(folder, 'agent-warehouse.yaml'), 'organisations: organisations.csv\n')
}

/** Runs `work` with a platform at that time whose responses are prepared. */
export function withPreparedPlatform(users, now, work, { areSteady = true } = {}) {
  return withServer('prepared.mjs', [users, now, areSteady ? 'steady' : ''].map(String), work)
}

/** `ask` sends a command to the process, and resolves to its response. */
async function withServer(script, args, work) {
  const child = fork(join(benchFolder, script), args)
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the stand-in platform ended (${code})`)
  })
  const told = async () => {
    const [message] = await Promise.race([once(child, 'message'), gone])
    return message
  }
  const ask = (name) => {
    child.send(name)
    return told()
  }
  try {
    return await work({ ...(await told()), ask })
  } finally {
    child.kill()
  }
}

/**
 * Runs one of our scripts to its end with `input` as standard input. Resolves to wall seconds, CPU seconds and
 * peak resident bytes of its process.
 * @throws Error with the end of its output when the exit code is not 0.
 */
export async function measure(script, args, env = {}, input = '') {
  return withFolder(async (folder) => {
    const peak = join(folder, 'peak.json')
    const began = performance.now()
    const flag = `--import=${join(benchFolder, 'peak.mjs')}`
    const environment = { ...env, BENCH_PEAK: peak }
    const output = await runToEnd([flag, script, ...args], environment, input)
    const seconds = (performance.now() - began) / 1000
    return { seconds, output, ...JSON.parse(await readFile(peak, 'utf8')) }
  })
}

/** `agent-warehouse <args>` on a data folder. Needs no platform unless `env` names one. */
export function agentWarehouse(args, dataFolder, env = {}) {
  return measure(join(root, 'dist', 'cli', 'main.js'), args, {
    AGENT_WAREHOUSE_DATA: dataFolder,
    ...env,
  })
}

const LONGEST_OUTPUT = 4_000_000

function runToEnd(args, env, input) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd: dirname(env.BENCH_PEAK),
    })
    child.stdin.end(input)
    let output = ''
    const keep = (chunk) => {
      output = (output + String(chunk)).slice(-LONGEST_OUTPUT)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output)
      else {
        const end = output.slice(-4000)
        reject(new Error(`${args.slice(1).join(' ')} ended with ${signal ?? code}:\n${end}`))
      }
    })
  })
}

/**
 * The result of `work`, and the share of CPU time that the host gave to other machines meanwhile
 * (0 if the system does not report it).
 */
export async function withStolenShare(work) {
  const before = await processorTimes()
  const result = await work()
  const after = await processorTimes()
  const all = after.all - before.all
  return { result, stolen: all > 0 ? (after.stolen - before.stolen) / all : 0 }
}

/** See proc_stat(5): the eighth column is "steal". */
async function processorTimes() {
  const text = await readFile('/proc/stat', 'utf8').catch(() => 'cpu')
  const times = text.split('\n', 1)[0].trim().split(/\s+/).slice(1, 9).map(Number)
  return { all: times.reduce((sum, each) => sum + each, 0), stolen: times[7] ?? 0 }
}

/** The properties of the machine that figures depend on. */
export function machineHere() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 1024 ** 3),
    platform: `${process.platform}-${process.arch}`,
  }
}

export { median } from './figures.mjs'

/** Prints progress. */
export function tell(line) {
  process.stderr.write(`${line}\n`)
}

/**
 * Passes a bench's figures to the runner, or prints them if it was started alone.
 * A figure: `{ name, value, unit, least?, most? }`; `least` and `most` are targets.
 */
export function report(figures) {
  if (process.send === undefined) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  else process.send(figures)
}
