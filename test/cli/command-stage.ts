import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/emulator/emulator.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { execute } from './published-stage.ts'

export const NOW = Date.parse('2026-02-03T05:00:00Z')

/** A stand-in platform, a data folder, and the environment of a command. */
export async function stage(options: Partial<EmulatorOptions> = {}) {
  const emulator = await startEmulator({ users: 12, now: () => NOW, ...options })
  onTestFinished(() => emulator.close())
  const data = await temporaryFolder()
  return { emulator, data, environment: environmentOf(emulator, data) }
}

function environmentOf(emulator: Emulator, data: string): Record<string, string> {
  return {
    AGENT_BASE_URL: emulator.url,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_RATE: '2000',
  }
}

export const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

/** The rows of a query. */
export async function ask(environment: Record<string, string>, sql: string): Promise<unknown> {
  const { out, err } = await execute(['query', sql, '--json'], environment)
  if (err !== '') throw new Error(err)
  return JSON.parse(out)
}

/** Every file in a folder and below. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
