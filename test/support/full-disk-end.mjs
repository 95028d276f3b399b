// node --import test/support/full-disk-end.mjs dist/cli/main.js hooks run
//
// full-disk.mjs. Prints on standard error at the end if the disk never became full.
import { writeSync } from 'node:fs'
import { hasRoom } from './full-disk.mjs'

process.on('exit', () => {
  if (hasRoom()) writeSync(2, Buffer.from('not full'))
})
