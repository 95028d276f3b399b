// node --import test/support/full-disk.mjs dist/cli/main.js run
//
// A disk that is full from the FULL_AT-th write on, counted from 1. Its files can
// still be read, renamed, replaced and removed. A write that does not fit is cut off
// in the middle, as the system does it.
import fs, { existsSync } from 'node:fs'
import fsp from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const fullAt = Number(process.env.FULL_AT)
let writes = 0

export function isFull() {
  writes += 1
  return writes >= fullAt
}

/** Whether there were too few writes to fill the disk. */
export function hasRoom() {
  return writes < fullAt
}

export function refusal(operation) {
  const error = new Error(`ENOSPC: no space left on device, ${operation}`)
  return Object.assign(error, { errno: -28, code: 'ENOSPC', syscall: operation })
}

const half = (data) =>
  typeof data === 'string' ? data.slice(0, data.length >> 1) : data.subarray(0, data.length >> 1)

function guardCreation(name, creates) {
  const real = fsp[name]
  fsp[name] = async (...args) => {
    if (creates(...args) && isFull()) throw refusal(name)
    return real(...args)
  }
}

function guardContent(target, name, dataAt) {
  const real = target[name]
  target[name] = async function (...args) {
    if (!isFull()) return real.apply(this, args)
    const [data] = args.splice(dataAt, 1)
    args.splice(dataAt, 0, half(data))
    await real.apply(this, args)
    throw refusal('write')
  }
}

guardCreation('mkdir', (path) => !existsSync(path))
guardCreation('open', (_, flags = 'r') => /[wa]/.test(flags))
guardContent(fsp, 'writeFile', 1)
guardContent(fsp, 'appendFile', 1)

for (const name of ['writeFileSync', 'appendFileSync']) {
  const real = fs[name]
  fs[name] = (path, data, ...options) => {
    if (!isFull()) return real(path, data, ...options)
    real(path, half(data), ...options)
    throw refusal('write')
  }
}
const { mkdirSync, fsync } = fs
fs.mkdirSync = (path, ...options) => {
  if (!existsSync(path) && isFull()) throw refusal('mkdir')
  return mkdirSync(path, ...options)
}
fs.fsync = (file, done) => {
  if (isFull()) done(refusal('fsync'))
  else fsync(file, done)
}

const handle = await fsp.open(process.execPath)
const prototype = Object.getPrototypeOf(handle)
await handle.close()
guardContent(prototype, 'writeFile', 0)
guardContent(prototype, 'appendFile', 0)
for (const name of ['sync', 'datasync']) {
  const real = prototype[name]
  prototype[name] = async function () {
    if (isFull()) throw refusal('fsync')
    return real.apply(this)
  }
}
syncBuiltinESMExports()
