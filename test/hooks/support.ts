import { spawn, type ChildProcess } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { hookFolders } from '../../src/hooks/record.ts'
import { packageRoot } from '../../src/lib/package.ts'
import type { Outcome } from '../support/command.ts'

const MAIN = join(packageRoot, 'dist', 'cli', 'main.js')

export interface HookRun {
  readonly data: string
  readonly config?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly node?: readonly string[]
  /** Leaves standard input open after the write. */
  readonly isEndless?: boolean
}

/**
 * Runs `hooks run` as the agent does: one object on standard input. Rejects with EPIPE, as the
 * agent's write does, if it is not read to its end.
 */
export function runHook(input: string | Uint8Array, run: HookRun): Promise<Outcome> {
  const child = startHook(run)
  const { stdin } = child
  if (run.isEndless === true) stdin?.write(input)
  else stdin?.end(input)
  return outcomeOf(child)
}

export function startHook({
  data,
  config,
  environment = {},
  cwd,
  node = [],
}: HookRun): ChildProcess {
  const named = config === undefined ? [] : ['--config', config]
  const child = spawn(process.execPath, [...node, MAIN, 'hooks', 'run', '--data', data, ...named], {
    cwd: cwd ?? packageRoot,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const [out, err]: [string[], string[]] = [[], []]
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk.toString()))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.stdin?.on('error', reject)
    child.on('close', (code) => {
      resolve({ code, out: out.join(''), err: err.join('') })
    })
  })
}

export interface SpoolFile {
  readonly name: string
  readonly text: string
  readonly event_id: string
  readonly recorded_at: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The files of the spool, by name. */
export async function spooled(data: string): Promise<SpoolFile[]> {
  const folder = hookFolders(data).spool
  const names = await namesIn(folder)
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8')
      return { ...(JSON.parse(text) as Omit<SpoolFile, 'name' | 'text'>), name, text }
    }),
  )
}

/** Names in a folder, in order; none where there is no folder. */
export async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => [])
  return names.sort()
}
