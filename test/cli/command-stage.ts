import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { EmulatorOptions } from '../../src/emulator/emulator.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { execute } from './published-stage.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

export const NOW = Date.parse('2026-02-03T05:00:00Z')

/** A stand-in platform, a data folder, and the environment of a command. */
export async function stage(options: Partial<EmulatorOptions> = {}) {
  const emulator = await standIn({ users: 12, now: () => NOW, ...options })
  const data = await temporaryFolder()
  return { emulator, data, environment: environmentOf(emulator, data) }
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
