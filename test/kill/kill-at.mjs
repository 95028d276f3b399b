// node --import test/kill/kill-at.mjs dist/cli/main.js run
//
// Counts every write under a folder by where in the program it is made, or ends
// the process at one of them as `kill -9` does: no handler runs, nothing more
// is written. A kill before a write equals a kill after the previous write, so
// a process dies after a write, or in the middle of one.
//   KILL_FOLDER   the data folder: only writes in it count
//   KILL_RECORD   a file for the counts, written when the process ends
//   KILL_AT       {"site", "nth", "when": "after" | "torn"}: the point to die at
import fs from 'node:fs'
import fsp from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuckDBConnection } from '@duckdb/node-api'

const { KILL_FOLDER, KILL_RECORD, KILL_AT } = process.env
const folder = resolve(KILL_FOLDER)
const target = KILL_AT === undefined ? null : JSON.parse(KILL_AT)
const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
const counts = new Map()
Error.stackTraceLimit = 40

/** Files whose functions are called from many places: their callers are part of the site. */
const HELPERS = /^lib\/(files|duckdb)\.js/

/** Operation and source line; for a helper, its callers' lines up to the first that is none. */
function siteOf(operation) {
  const frames = new Error().stack.split('\n').flatMap((line) => {
    const at = line.indexOf(dist)
    return at < 0 ? [] : [line.slice(at + dist.length).replace(/:\d+\)?$/, '')]
  })
  const own = frames.findIndex((frame) => !HELPERS.test(frame))
  return [operation, ...frames.slice(0, own + 1)].join(' ')
}

/** Counts the call; true at the point to die at. */
function isPoint(operation) {
  const site = siteOf(operation)
  const nth = (counts.get(site) ?? 0) + 1
  counts.set(site, nth)
  return target !== null && site === target.site && nth === target.nth
}

function die() {
  process.kill(process.pid, 'SIGKILL')
}

/** `halve` makes the first half of a write. */
function guard(operation, call, halve = call) {
  if (!isPoint(operation)) return call()
  return (target.when === 'torn' ? halve() : call()).finally(die)
}

function half(data) {
  const middle = Math.ceil(data.length / 2)
  return typeof data === 'string' ? data.slice(0, middle) : data.subarray(0, middle)
}

const isInside = (path) =>
  typeof path === 'string' && (path === folder || path.startsWith(folder + sep))

const WRITES = ['appendFile', 'writeFile']
const OTHERS = ['rename', 'copyFile', 'cp', 'link', 'rm', 'unlink', 'rmdir', 'mkdir', 'truncate']
for (const name of [...WRITES, ...OTHERS]) {
  const original = fsp[name].bind(fsp)
  fsp[name] = (...given) => {
    const call = () => original(...given)
    if (!given.slice(0, 2).some(isInside)) return call()
    const [path, data, ...rest] = given
    const halve = () => original(path, half(data), ...rest)
    return guard(name, call, WRITES.includes(name) ? halve : call)
  }
}

const pathOf = new WeakMap()
const open = fsp.open.bind(fsp)
fsp.open = async (path, flags = 'r', ...rest) => {
  const call = () => open(path, flags, ...rest)
  if (!isInside(path)) return call()
  const handle = await (/[wa]/.test(flags) ? guard(`open ${flags}`, call) : call())
  pathOf.set(handle, path)
  return handle
}

const self = await open(fileURLToPath(import.meta.url))
const handles = Object.getPrototypeOf(self)
await self.close()
for (const name of [...WRITES, 'write', 'writev', 'truncate']) {
  const original = handles[name]
  handles[name] = function (...given) {
    const call = () => original.apply(this, given)
    if (!pathOf.has(this)) return call()
    const [data, ...rest] = given
    const halve = () => original.call(this, half(data), ...rest)
    return guard(`handle.${name}`, call, WRITES.includes(name) ? halve : call)
  }
}

/** Statements by which DuckDB writes files. */
const WRITING = /\b(copy|attach|checkpoint)\b|\bcreate or replace table\b/i
const { run } = DuckDBConnection.prototype
DuckDBConnection.prototype.run = function (sql, ...rest) {
  const call = () => run.call(this, sql, ...rest)
  return WRITING.test(sql) ? guard('duckdb', call) : call()
}

const { writeFileSync } = fs
for (const name of [...WRITES, ...OTHERS].map((each) => `${each}Sync`)) {
  const original = fs[name].bind(fs)
  fs[name] = (...given) => {
    const isTorn = target?.when === 'torn' && /^(append|write)/.test(name)
    if (!given.slice(0, 2).some(isInside) || !isPoint(name)) return original(...given)
    const [path, data, ...rest] = given
    try {
      return original(...(isTorn ? [path, half(data), ...rest] : given))
    } finally {
      die() // also after a write that is refused, as of a file that exists
    }
  }
}

// Other ways to write are counted, so that they are not overlooked.
for (const name of ['createWriteStream', 'writeFile', 'appendFile']) {
  const original = fs[name].bind(fs)
  fs[name] = (...given) => {
    if (isInside(given[0])) counts.set(`not covered: ${siteOf(name)}`, 1)
    return original(...given)
  }
}

syncBuiltinESMExports()

process.on('exit', () => {
  if (KILL_RECORD !== undefined)
    writeFileSync(KILL_RECORD, JSON.stringify(Object.fromEntries(counts)))
})
