import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { program } from '../../src/cli/program.ts'
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/emulator/emulator.ts'
import type { Outcome } from '../support/command.ts'
import { copyFolder } from '../support/folders.ts'
import { MACHINE } from '../support/machine.ts'

export interface Where {
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The user's answer; without it there is no terminal. */
  readonly answers?: string
  /** The machine's clock. @default the real one */
  readonly now?: () => number
}

/** A stand-in platform, and a data folder with its published warehouse, for many tests. */
export interface Published {
  readonly emulator: Emulator
  readonly data: string
  /** A new folder, which is removed with the stage. */
  readonly folder: () => Promise<string>
  /** A copy of the data folder, to be changed. */
  readonly copy: () => Promise<string>
  /** The command, in process, in the environment of the stage. */
  readonly go: (args: readonly string[], where?: Where) => Promise<Outcome>
  readonly environment: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

/** An environment without an address, a key or a data folder. */
export const NOTHING = {
  AGENT_BASE_URL: '',
  AGENT_APP_URL: '',
  AGENT_API_KEY: '',
  AGENT_WAREHOUSE_DATA: '',
}

/** @param run The arguments of the run that publishes. */
export async function published(
  options: EmulatorOptions,
  run: readonly string[] = [],
): Promise<Published> {
  const root = await mkdtemp(join(tmpdir(), 'agent-warehouse-'))
  const emulator = await startEmulator({ remember: 100_000, ...options })
  const folder = (): Promise<string> => mkdtemp(join(root, 'f-'))
  const data = join(root, 'data')
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_APP_URL: emulator.appUrl,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
    PATH: process.env['PATH'] ?? '',
    HOME: root,
    ...MACHINE,
  }
  const go: Published['go'] = (args, { environment: own = {}, cwd = root, ...where } = {}) =>
    execute(args, { ...environment, ...own }, cwd, where)
  const night = await go(['run', '--log', 'none', ...run])
  expect(night.code, night.err).toBe(0)
  const copy = async (): Promise<string> => {
    const to = join(await folder(), 'data')
    await copyFolder(data, to)
    return to
  }
  const close = async (): Promise<void> => {
    await emulator.close()
    await rm(root, { recursive: true, force: true, maxRetries: 20 })
  }
  return { emulator, data, folder, copy, go, environment, close }
}

/** The command, in process. */
export async function execute(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd = '/',
  { answers, now = () => Date.now() }: Pick<Where, 'answers' | 'now'> = {},
): Promise<Outcome> {
  let [out, err] = ['', '']
  const code = await program(args, {
    out: (text) => (out += text),
    err: (text) => (err += text),
    isTty: false,
    columns: () => 100,
    outWidth: undefined,
    hasColour: false,
    ask: answers === undefined ? null : () => Promise.resolve(answers),
    environment,
    cwd,
    now,
  })
  return { code, out, err }
}

/** A configuration file in a folder. */
export async function configured(folder: string, text: string): Promise<string> {
  const path = join(folder, 'agent-warehouse.yaml')
  await writeFile(path, text, { mode: 0o600 })
  return path
}
