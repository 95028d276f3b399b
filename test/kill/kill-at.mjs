// node --import test/kill/kill-at.mjs dist/cli/main.js run
//
// Counts every write under a folder by where in the program it is made, or ends
// the process at one of them as a power cut would: SIGKILL, no handler runs.
//   KILL_FOLDER   the data folder: only writes in it count
//   KILL_RECORD   a file for the counts, written when the process ends
//   KILL_AT       {"site", "nth", "when"}: the point to die at
import fs from 'node:fs'
import fsp from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuckDBConnection } from '@duckdb/node-api'

const folder = resolve(process.env.KILL_FOLDER)
const target = process.env.KILL_AT === undefined ? null : JSON.parse(process.env.KILL_AT)
const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
const counts = new Map()
const pathOf = new WeakMap()
Error.stackTraceLimit = 40

/** Frames of the program, innermost first: enough of them to tell the callers of a helper apart. */
const DEPTH = 5

function siteOf(operation) {
  const frames = new Error().stack.split('\n').flatMap((line) => {
    const at = line.indexOf(dist)
    return at < 0 ? [] : [line.slice(at + dist.length).replace(/\)$/, '')]
  })
  return `${operation} ${frames.slice(0, DEPTH).join(' < ')}`
}

/** True at the point to die at; counts the call. */
function isPoint(operation) {
  const site = siteOf(operation)
  const nth = (counts.get(site) ?? 0) + 1
  counts.set(site, nth)
  return target !== null && site === target.site && nth === target.nth
}

function die() {
  process.kill(process.pid, 'SIGKILL')
}

const isInside = (path) =>
  typeof path === 'string' && (path === folder || path.startsWith(folder + sep))

/** `halve` makes the arguments of a write those of its first half; without it nothing can be torn. */
function guard(operation, call, halve) {
  if (!isPoint(operation)) return call()
  if (target.when === 'before') die()
  return (target.when === 'torn' ? halve() : call()).finally(die)
}

const half = (data) =>
  typeof data === 'string'
    ? data.slice(0, Math.ceil(data.length / 2))
    : data.subarray(0, Math.ceil(data.byteLength / 2))

const WRITES = ['appendFile', 'writeFile']
const OTHERS = ['rename', 'copyFile', 'cp', 'link', 'rm', 'unlink', 'rmdir', 'mkdir', 'truncate']
for (const name of [...WRITES, ...OTHERS]) {
  const original = fsp[name].bind(fsp)
  fsp[name] = (...given) => {
    if (!given.slice(0, 2).some(isInside)) return original(...given)
    const [path, data, ...rest] = given
    const halve = () => original(path, half(data), ...rest)
    return guard(
      name,
      () => original(...given),
      WRITES.includes(name) ? halve : () => original(...given),
    )
  }
}

const open = fsp.open.bind(fsp)
fsp.open = async (path, flags, ...rest) => {
  const call = () => open(path, flags, ...rest)
  const isWrite = isInside(path) && /[wa+]/.test(flags ?? 'r')
  const handle = await (isWrite ? guard(`open ${flags}`, call, call) : call())
  if (isInside(path)) pathOf.set(handle, path)
  return handle
}

const someHandle = await open(fileURLToPath(import.meta.url), 'r')
const handles = Object.getPrototypeOf(someHandle)
await someHandle.close()
for (const name of [...WRITES, 'write', 'writev', 'truncate', 'sync', 'datasync', 'close']) {
  const original = handles[name]
  handles[name] = function (...given) {
    const call = () => original.apply(this, given)
    if (!pathOf.has(this)) return call()
    const [data, ...rest] = given
    const halve = () => original.call(this, half(data), ...rest)
    return guard(`handle.${name}`, call, WRITES.includes(name) ? halve : call)
  }
}

// What the program does not use today is counted too, so that a new way to write cannot hide.
for (const name of ['appendFileSync', 'writeFileSync', 'renameSync', 'rmSync', 'mkdirSync']) {
  const original = fs[name].bind(fs)
  fs[name] = (...given) => {
    if (isInside(given[0]) && isPoint(name)) {
      if (target.when !== 'before') original(...given)
      die()
    }
    return original(...given)
  }
}

syncBuiltinESMExports()

/** Statements by which DuckDB writes files. */
const WRITING = /\b(copy|attach|checkpoint|create|insert|comment|drop)\b/i
for (const name of ['run', 'runAndReadAll']) {
  const original = DuckDBConnection.prototype[name]
  DuckDBConnection.prototype[name] = function (sql, ...rest) {
    const call = () => original.call(this, sql, ...rest)
    return WRITING.test(sql) ? guard('duckdb', call, call) : call()
  }
}

const { writeFileSync } = fs
process.on('exit', () => {
  if (process.env.KILL_RECORD === undefined) return
  writeFileSync(process.env.KILL_RECORD, JSON.stringify(Object.fromEntries(counts)))
})
