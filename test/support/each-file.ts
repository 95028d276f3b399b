import { afterAll } from 'vitest'
import { limitsOf, readMachine, setProcessLimits } from '../../src/lib/machine.ts'
import { removeFolders } from './folders.ts'

// Test files share processes, so that modules are loaded once: each begins with the usual umask
// and the limits of the machine, whatever an earlier file has set.
process.umask(0o022)
setProcessLimits(limitsOf(readMachine(), { threads: null, memory: null }))

afterAll(removeFolders)
