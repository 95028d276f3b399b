import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import { MACHINE } from '../support/machine.ts'

/** A command, and the platform that it requests from. */
export interface Command {
  readonly args: readonly string[]
  readonly url: string
  readonly key: string
}

/** A write at which a process can be killed. */
export interface Point {
  /** The operation, and the source lines that call it. */
  readonly site: string
  /** The count of the call at that site. */
  readonly nth: number
  /** After the write, or in the middle of it. */
  readonly when: 'after' | 'torn'
}

/** A completed command: where and how often it writes, and its duration in milliseconds. */
export interface Course {
  readonly writes: Readonly<Record<string, number>>
  readonly tookMs: number
}

/** @throws Error when the command fails. */
export async function courseOf(command: Command, dataFolder: string): Promise<Course> {
  const record = `${dataFolder}.writes`
  const startedAt = Date.now()
  const { code, err } = await spawned(command, dataFolder, { KILL_RECORD: record })
  const tookMs = Date.now() - startedAt
  if (code !== 0) throw new Error(`${command.args.join(' ')} ended with ${code}: ${err}`)
  const writes = JSON.parse(await readFile(record, 'utf8')) as Record<string, number>
  await rm(record)
  return { writes, tookMs }
}

/**
 * After every write, and in the middle of those whose bytes are the program's own; of repeated
 * writes, the first and the last (a folder is created only once).
 */
export function pointsOf({ writes }: Course): Point[] {
  return Object.entries(writes).flatMap(([site, last]) => {
    const whens: Point['when'][] = TEARABLE.test(site) ? ['after', 'torn'] : ['after']
    const times = last === 1 || site.startsWith('mkdir ') ? [1] : [1, last]
    return times.flatMap((nth) => whens.map((when) => ({ site, nth, when })))
  })
}

const TEARABLE = /^(handle\.)?(appendFile|writeFile)(Sync)? /

/** Runs a command until a point. @returns false when it ended before reaching it. */
export async function killAt(command: Command, dataFolder: string, point: Point): Promise<boolean> {
  const { signal } = await spawned(command, dataFolder, { KILL_AT: JSON.stringify(point) })
  return signal === 'SIGKILL'
}

/** Runs a command for some time. @returns false when it ended before. */
export async function killAfter(command: Command, dataFolder: string, ms: number) {
  const { signal } = await spawned(command, dataFolder, {}, ms)
  return signal === 'SIGKILL'
}

export function environmentOf(command: Command, dataFolder: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    ...MACHINE,
    AGENT_BASE_URL: command.url,
    AGENT_API_KEY: command.key,
    AGENT_WAREHOUSE_DATA: dataFolder,
    AGENT_WAREHOUSE_RATE: '2000',
  }
}

const PRELOAD = join(packageRoot, 'test', 'kill', 'kill-at.mjs')
const MAIN = join(packageRoot, 'dist', 'cli', 'main.js')

interface Ending {
  readonly code: number | null
  readonly signal: string | null
  readonly err: string
}

/** Runs a command in a process of its own, to its end or for `killAfterMs`. */
async function spawned(
  command: Command,
  dataFolder: string,
  variables: Readonly<Record<string, string>>,
  killAfterMs?: number,
): Promise<Ending> {
  const child = spawn(process.execPath, ['--import', PRELOAD, MAIN, ...command.args], {
    cwd: packageRoot,
    env: { ...environmentOf(command, dataFolder), KILL_FOLDER: dataFolder, ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new AbortController()
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  onTestFinished(kill)
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  if (killAfterMs !== undefined) {
    delay(killAfterMs, undefined, { signal: ended.signal }).then(kill, () => undefined)
  }
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  ended.abort()
  return { code, signal, err }
}
