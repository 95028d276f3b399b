#!/usr/bin/env node
import { devNull } from 'node:os'
import { explainedFault } from '../lib/disk.ts'
import { AppError, UsageError } from '../lib/errors.ts'
import { oneLine } from '../lib/text.ts'
import { OWNER_ONLY, umaskOf } from '../lib/trust.ts'

const argv = process.argv.slice(2)

// Before any file is made. A mask that cannot be read is refused with the configuration.
process.umask(umaskOf(process.env) ?? OWNER_ONLY)

const cwd = workingFolder()

/** `hooks run` without `--help` bypasses the parser, because the agent waits for it. */
if (argv[0] === 'hooks' && argv[1] === 'run' && !argv.includes('--help')) {
  const { hooksRun } = await import('./hooks/run.ts')
  // without a working folder, absolute paths can be used, and relative ones name no file
  await hooksRun(argv, process.env, cwd ?? devNull)
}

let isLost = false
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // a closed pipe (`| head`) is not an error
  if (error.code === 'EPIPE' || isLost) return
  isLost = true
  process.stderr.write(`agent-warehouse: the output cannot be written: ${error.message}\n`)
})
// nowhere is left to report it; the work continues to its end
process.stderr.on('error', () => undefined)
process.once('exit', () => {
  if (isLost && process.exitCode === 0) process.exitCode = 1
})
process.exitCode = await start().catch(refused)

/** @throws UsageError without a working folder; Error if the program cannot be loaded. */
async function start(): Promise<number> {
  if (cwd === undefined) {
    throw new UsageError('the folder in which the command was started no longer exists', {
      hint: 'Start it in another folder.',
    })
  }
  const { program } = await import('./program.ts')
  const { steadyClock } = await import('../client/index.ts')
  return program(argv, {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    isTty: process.stderr.isTTY,
    columns: () => (process.stderr.isTTY ? widthOf(process.stderr.columns) : 100),
    outWidth: process.stdout.isTTY ? widthOf(process.stdout.columns) : undefined,
    hasColour: process.stderr.isTTY && !process.env['NO_COLOR'],
    ask: process.stdin.isTTY && process.stderr.isTTY ? askOnTerminal : null,
    environment: process.env,
    cwd,
    now: steadyClock(),
  })
}

/** Prints why the program was not started, and returns the exit code. @throws any other error */
function refused(error: unknown): number {
  const failure = explainedFault(error)
  if (!(failure instanceof AppError) || argv.includes('--debug')) throw error
  process.stderr.write(`agent-warehouse: ${oneLine(failure.message)}\n  ${failure.hint ?? ''}\n`)
  return failure.exitCode
}

/** Undefined if the folder was deleted. */
function workingFolder(): string | undefined {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}

function widthOf(columns: number | undefined): number {
  return [columns, Number(process.env['COLUMNS'])].find((each) => (each ?? 0) > 0) ?? 80
}

/** Asks on the terminal; no answer (Ctrl-C, Ctrl-D, `signal`) is the empty one. */
async function askOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import('node:readline')
  return new Promise((resolve) => {
    const reader = createInterface({ input: process.stdin, output: process.stderr })
    let answer: string | undefined
    const end = (): void => {
      reader.close()
    }
    signal.addEventListener('abort', end, { once: true })
    reader.on('close', () => {
      signal.removeEventListener('abort', end)
      if (answer === undefined) process.stderr.write('\n')
      resolve(answer ?? '')
    })
    reader.question(question, (text) => {
      answer = text
      reader.close()
    })
  })
}
