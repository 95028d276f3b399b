import { program } from '../../src/cli/program.ts'
import type { Emulator, EmulatorOptions } from '../../src/emulator/emulator.ts'
import type { Outcome } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { standIn } from '../support/stand-in.ts'

export const NOW = Date.parse('2026-03-10T05:00:00Z')

export interface Stage {
  readonly emulator: Emulator
  /** The data folder, which does not exist yet. */
  readonly data: string
  readonly environment: Readonly<Record<string, string>>
  /** The command as its `main` runs it, with this terminal. */
  readonly run: (args: readonly string[], terminal?: Person) => Promise<Outcome>
  /** Requests so far that change something, `PUT /api/…`. */
  readonly changes: () => string[]
}

/** The user at the terminal; without `answers` there is no terminal. */
export interface Person {
  readonly answers?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The width of standard output when it is a terminal. */
  readonly width?: number
}

/** A stand-in platform, and the command that talks to it. */
export async function stage(options: Partial<EmulatorOptions> = {}): Promise<Stage> {
  const emulator = await standIn({ users: 130, now: () => NOW, ...options })
  const data = `${await temporaryFolder()}/data`
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_APP_URL: emulator.appUrl,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
  }
  return {
    emulator,
    data,
    environment,
    run: (args, person = {}) => run(args, { ...environment, ...person.environment }, person),
    changes: () =>
      emulator.requests
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path }) => `${method} ${path}`),
  }
}

async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { answers, cwd = '/', width }: Person,
): Promise<Outcome> {
  let [out, err] = ['', '']
  const code = await program(args, {
    out: (text) => (out += text),
    err: (text) => (err += text),
    isTty: answers !== undefined,
    columns: () => 100,
    outWidth: width,
    hasColour: false,
    ask:
      answers === undefined
        ? null
        : (question) => {
            err += `${question}\n`
            return Promise.resolve(answers)
          },
    environment,
    cwd,
    now: () => Date.now(),
  })
  return { code, out, err }
}

/** The lines of standard error: the error, and at most its next step. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
