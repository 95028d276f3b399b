// What a command takes together with all processes that it starts, by bench/peers/measured.py:
// a tool may consist of several processes, and of any language.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { benchFolder, median } from './lib.mjs'

const PROGRAM = join(benchFolder, 'peers', 'measured.py')
const LONGEST_OUTPUT = 64 * 1024 * 1024

/**
 * Runs a command to its end in a folder. Resolves to its output, wall seconds, and the CPU seconds
 * and peak bytes of all its processes; `isFailed` where it `mayFail` and did.
 */
export async function measured(command, { folder, env, mayFail = false }) {
  const file = join(folder, 'measured.json')
  const { stdout, isFailed = false } = await promisify(execFile)(
    'python3',
    [PROGRAM, file, ...command],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...env },
      maxBuffer: LONGEST_OUTPUT,
    },
  ).catch((error) => {
    if (!mayFail || typeof error.code !== 'number') throw withEnd(error)
    return { ...error, isFailed: true }
  })
  return { output: stdout, isFailed, ...JSON.parse(await readFile(file, 'utf8')) }
}

function withEnd({ message, stdout }) {
  return new Error(`${message.slice(-4000)}\n${String(stdout).slice(-4000)}`)
}

/** Of runs of the same tool: the median of what they took, the most of their memory. */
export function middle(runs) {
  return {
    ...runs[0],
    seconds: median(runs.map(({ seconds }) => seconds)),
    cpuSeconds: median(runs.map(({ cpuSeconds }) => cpuSeconds)),
    peakBytes: Math.max(...runs.map(({ peakBytes }) => peakBytes)),
  }
}
