import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { LeaseOptions } from '../../src/lib/lock.ts'
import { thisPlace, type Place, type ProcessId } from '../../src/lib/place.ts'

export interface Waiting {
  readonly options: LeaseOptions
  /** The milliseconds slept in total. */
  readonly slept: () => number
  readonly warnings: string[]
}

/** Options to acquire a lease in a world that does not wait; `during` runs in each sleep. */
export function waiting(
  runId: string,
  now = Date.parse('2026-03-01T02:00:00Z'),
  during: (slept: number) => Promise<void> = () => Promise.resolve(),
): Waiting {
  const warnings: string[] = []
  let slept = 0
  const sleep = async (ms: number): Promise<void> => {
    slept += ms
    await during(slept)
  }
  const { signal } = new AbortController()
  const world = { now: () => now + slept, sleep, signal }
  const warn = (message: string): void => void warnings.push(message)
  return { options: { runId, world, warn }, slept: () => slept, warnings }
}

/** Another host with the same data folder. */
export const ELSEWHERE: Place = { host: 'elsewhere', boot: 'b00t', pidNamespace: 'pid:[1]' }

/** A lease that no process renews; `ageMs` old by the clock of the file system. */
export async function leaveLease(
  path: string,
  owner: Partial<ProcessId>,
  ageMs = 0,
): Promise<void> {
  const whole = { pid: process.pid, begun: '1', ...thisPlace(), ...owner }
  const lease = { ...whole, runId: 'old', since: '2026-03-01T01:00:00.000Z', token: 'old' }
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `${JSON.stringify(lease)}\n`)
  const at = new Date(Date.now() - ageMs)
  await utimes(path, at, at)
}
