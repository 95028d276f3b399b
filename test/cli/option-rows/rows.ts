import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Emulator, EmulatorOptions } from '../../../src/emulator/emulator.ts'
import type { Outcome } from '../../support/command.ts'
import { standIn } from '../../support/stand-in.ts'
import type { Published, Where } from '../published-stage.ts'

export const NOW = Date.parse('2026-02-03T05:00:00Z')

/** The stage, and what one row has to itself. */
export interface Kit extends Published {
  /** An empty folder. */
  readonly here: string
  /** The requests that the platform gets from here on, `GET /api/…`. */
  readonly asked: () => () => string[]
}

/** Runs a command with the option, and expects the effect of the option. */
export type Row = (kit: Kit) => Promise<void>

/** By `<command> --<option>`. */
export type Rows = Readonly<Record<string, Row>>

/** The rows of one command, whose names are the options alone. */
export function rowsOf(command: string, rows: Rows): Rows {
  return Object.fromEntries(
    Object.entries(rows).map(([option, row]) => [`${command} --${option}`, row]),
  )
}

/** The same result for all rows of a stage: the work is done for the first that asks. */
export function once<T>(work: (kit: Kit) => Promise<T>): (kit: Kit) => Promise<T> {
  const results = new WeakMap<Emulator, Promise<T>>()
  return (kit) => {
    const result = results.get(kit.emulator) ?? work(kit)
    results.set(kit.emulator, result)
    return result
  }
}

/** The output of a command, which must exit with code 0. */
export async function ok(kit: Kit, args: readonly string[], where: Where = {}): Promise<Outcome> {
  const result = await kit.go(args, where)
  expect(result.code, `${args.join(' ')}\n${result.err}${result.out}`).toBe(0)
  return result
}

/** Its output, parsed as JSON. */
export async function json(kit: Kit, args: readonly string[], where: Where = {}): Promise<unknown> {
  return JSON.parse((await ok(kit, args, where)).out)
}

/** The environment of a data folder. */
export function on(data: string): Where {
  return { environment: { AGENT_WAREHOUSE_DATA: data } }
}

/** A platform of the row's own, and the environment that names it. */
export async function another(
  options: Partial<EmulatorOptions> = {},
): Promise<{ emulator: Emulator; environment: Record<string, string> }> {
  const emulator = await standIn({ users: 6, now: () => NOW, remember: 10_000, ...options })
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_APP_URL: emulator.appUrl,
    AGENT_API_KEY: emulator.keys.manager,
  }
  return { emulator, environment }
}

/** A file with a text in the row's folder. */
export async function fileWith(kit: Kit, name: string, text: string): Promise<string> {
  const path = join(kit.here, name)
  await writeFile(path, text, { mode: 0o600 })
  return path
}

interface Event {
  readonly type: string
  readonly model?: string
  readonly reason?: string
}

/** The events that a command logged as JSON. */
export function eventsOf({ err }: Outcome): Event[] {
  return err
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Event)
}
