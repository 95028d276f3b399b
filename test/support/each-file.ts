import { afterAll } from 'vitest'
import { limitsOf, readMachine, setProcessLimits } from '../../src/lib/machine.ts'
import { removeFolders } from './folders.ts'
import { THREADS } from './machine.ts'

// Test files share processes, so that modules are loaded once: each begins with the usual umask
// and the limits of the suite, whatever an earlier file has set.
process.umask(0o022)
const threads = (THREADS ?? '') === '' ? null : { value: Number(THREADS), from: 'the suite' }
setProcessLimits(limitsOf(readMachine(), { threads, memory: null }))

afterAll(removeFolders)
