import { UsageError } from '../lib/errors.ts'
import { bytesOf, LEAST_MEMORY, type Bound, type MachineSettings } from '../lib/machine.ts'
import { setting, type Environment } from './organisations.ts'

interface InFile {
  readonly threads?: string | number | undefined
  readonly memory?: string | number | undefined
}

/**
 * What `AGENT_WAREHOUSE_THREADS` and `AGENT_WAREHOUSE_MEMORY` allow, else the configuration at
 * `path`; null: all that the machine has.
 *
 * @throws UsageError for what is no number of threads, no size, or less memory than it takes.
 */
export function machineSettings(
  environment: Environment,
  path: string,
  inFile: InFile,
): MachineSettings {
  const read = (name: keyof InFile, valueOf: (text: string, from: string) => number) => {
    const variable = `AGENT_WAREHOUSE_${name.toUpperCase()}`
    const text = setting(environment, variable)
    const from = text === undefined ? `${path} ${name}` : variable
    const given = text ?? inFile[name]
    return given === undefined ? null : boundOf(String(given).trim(), from, valueOf)
  }
  return { threads: read('threads', threadsOf), memory: read('memory', memoryOf) }
}

function boundOf(
  text: string,
  from: string,
  valueOf: (text: string, from: string) => number,
): Bound {
  return { value: valueOf(text, from), from }
}

function threadsOf(text: string, from: string): number {
  const threads = Number(text)
  if (Number.isInteger(threads) && threads > 0) return threads
  throw new UsageError(`${from}: '${text}' must be a whole number above 0`)
}

function memoryOf(text: string, from: string): number {
  const bytes = bytesOf(text)
  const hint = 'Write a number with MB, GB, MiB or GiB, for example 2GB.'
  if (bytes === undefined) throw new UsageError(`${from}: '${text}' is not a size`, { hint })
  if (bytes >= LEAST_MEMORY) return bytes
  const least = `${LEAST_MEMORY / 1e6}MB`
  throw new UsageError(`${from}: '${text}' is too little: at least ${least}`, { hint })
}
