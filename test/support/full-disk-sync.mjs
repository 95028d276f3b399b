// node --import test/support/full-disk-sync.mjs dist/cli/main.js hooks run
//
// full-disk.mjs with the other synchronous writes of `hooks run`. Prints on standard
// error at the end if the disk never became full.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { hasRoom, isFull, refusal } from './full-disk.mjs'

const { writeSync } = fs

function guard(name, counts = () => true) {
  const real = fs[name]
  fs[name] = (...args) => {
    if (counts(...args) && isFull()) throw refusal(name)
    return real(...args)
  }
}

guard('openSync', (_, flags = 'r') => /[wa]/.test(flags))
guard('linkSync')
guard('copyFileSync')
guard('fsyncSync')
fs.writeSync = (file, bytes, at = 0) => {
  if (!isFull()) return writeSync(file, bytes, at)
  writeSync(file, bytes, at, (bytes.length - at) >> 1)
  throw refusal('write')
}
syncBuiltinESMExports()

process.on('exit', () => {
  if (hasRoom()) writeSync(2, Buffer.from('not full'))
})
