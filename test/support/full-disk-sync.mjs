// node --import test/support/full-disk-sync.mjs dist/cli/main.js hooks run
//
// The same as full-disk.mjs for the synchronous writes of `hooks run`: the disk is
// full from the FULL_AT-th write on, and what does not fit is cut off in the middle.
// Says at the end on standard error where it never became full.
import './full-disk.mjs'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const fullAt = Number(process.env.FULL_AT)
const { writeSync } = fs
let writes = 0

function isFull() {
  writes += 1
  return writes >= fullAt
}

function refusal(operation) {
  const error = new Error(`ENOSPC: no space left on device, ${operation}`)
  return Object.assign(error, { errno: -28, code: 'ENOSPC', syscall: operation })
}

function guard(name, counts = () => true) {
  const real = fs[name]
  fs[name] = (...args) => {
    if (counts(...args) && isFull()) throw refusal(name)
    return real(...args)
  }
}

guard('mkdirSync', (path) => !fs.existsSync(path))
guard('openSync', (_, flags = 'r') => /[wa]/.test(flags))
guard('linkSync')
guard('copyFileSync')
guard('fsyncSync')
guard('appendFileSync')
fs.writeSync = (file, bytes, at = 0) => {
  if (!isFull()) return writeSync(file, bytes, at)
  writeSync(file, bytes, at, (bytes.length - at) >> 1)
  throw refusal('write')
}
syncBuiltinESMExports()

process.on('exit', () => {
  if (writes < fullAt) writeSync(2, Buffer.from('not full'))
})
