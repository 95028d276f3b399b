import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import { MACHINE } from './machine.ts'

export interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The compiled command. */
export const MAIN = join(packageRoot, 'dist', 'cli', 'main.js')

/** Runs the command as a user does, with nothing in its environment but what is given. */
export function command(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd = packageRoot,
): Promise<Outcome> {
  return startCommand(args, environment, cwd).outcome
}

/** A command in progress. */
export interface Running {
  readonly kill: (signal: NodeJS.Signals) => void
  /** Resolves once its output contains the text. */
  readonly untilPrinted: (text: string) => Promise<void>
  /** The standard output so far. */
  readonly printed: () => string
  readonly outcome: Promise<Outcome>
}

export function startCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd = packageRoot,
): Running {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ...MACHINE,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ code, out, err })
    })
  })
  const untilPrinted = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (`${out}${err}`.includes(text)) resolve()
      }
      child.stdout.on('data', check)
      child.stderr.on('data', check)
      check()
    })
  return { kill: (signal) => void child.kill(signal), untilPrinted, printed: () => out, outcome }
}
