// node --import test/support/other-host.mjs dist/cli/main.js run
//
// Gives the process another host name, as on another computer with the same volume.
//   HOST_NAME     the name
//   HASTE         the factor by which waiting is shorter
import os from 'node:os'
import timers from 'node:timers/promises'
import { syncBuiltinESMExports } from 'node:module'

const { HOST_NAME, HASTE = '1' } = process.env
os.hostname = () => HOST_NAME
const { setTimeout } = timers
timers.setTimeout = (ms, ...rest) => setTimeout(ms === 1000 ? ms / Number(HASTE) : ms, ...rest)
syncBuiltinESMExports()
