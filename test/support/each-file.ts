import { afterAll } from 'vitest'
import { limitsOf, readMachine, setProcessLimits } from '../../src/lib/machine.ts'
import { removeFolders } from './folders.ts'

// Test files share processes, so that modules are loaded once: each begins with the usual mask
// and all of the machine, whatever the one before has set.
process.umask(0o022)
setProcessLimits(limitsOf(readMachine(), { threads: null, memory: null }))

afterAll(removeFolders)
