import { fieldOf, type PlatformClient } from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import { defineCommand } from '../command.ts'
import { computerArgument, computerOf, labelOf, ON_COMPUTERS } from './computers.ts'
import { changeOptions, mayChange, requireConsent } from './change.ts'
import {
  type Advice,
  platformOptions,
  withPlatform,
  type Platform,
  type Clean,
} from './platform.ts'
import { proseText, textOf, valueJson, itemJson, listAt } from './render.ts'
import { poll, pollingOf, pollOptions, type Look } from './poll.ts'

/** Something that is done to one computer. */
interface Action {
  readonly examples: readonly [string, string][]
  /** What the person is asked to confirm. */
  readonly what: (computer: unknown) => string
  readonly ask: (client: PlatformClient, computerId: string) => Promise<unknown>
  /** What came of it, without secrets: fields for machines, a line for people. */
  readonly came: (answer: unknown, platform: Platform) => object
  readonly said: (label: string, came: object) => string
  readonly advice?: Advice
}

export const installDependencies = action({
  examples: [['$0 computers install-deps build-farm && $0 computers wait build-farm', 'and wait']],
  what: (computer) => `install the dependencies of ${labelOf(computer)} again`,
  ask: (client, id) => client.computers.installDependencies(id),
  came: (answer, { clean }) => ({
    computer: clean('computers', { text: JSON.stringify(answer) }).value,
  }),
  said: (label) =>
    `The dependencies of ${label} are being installed; agent-warehouse computers wait waits until that is done`,
  advice: {
    409: 'Wait for the install that is running: agent-warehouse computers wait <computer>',
  },
})

export const refreshComputer = action({
  examples: [['$0 computers refresh build-farm', 'git credentials and environment, set up again']],
  what: (computer) => `set up the credentials and the environment of ${labelOf(computer)} again`,
  ask: (client, id) => client.computers.refresh(id),
  came: (answer) => ({ configured: fieldOf(answer, 'configured') ?? null }),
  said: (label, came) =>
    `Of ${label} ${textOf(fieldOf(came, 'configured'))} integrations were configured`,
})

export const restartComputer = action({
  examples: [['$0 computers restart build-farm', 'a managed computer']],
  what: (computer) => `restart the computer ${labelOf(computer)}`,
  ask: (client, id) => client.computers.restart(id),
  came: () => ({ restarted: true }),
  said: (label) => `${label} restarts; agent-warehouse computers wait waits until it is back`,
})

export const deleteComputer = action({
  examples: [['$0 computers delete build-farm --dry-run', 'what would be sent']],
  what: (computer) => {
    const status = fieldOf(computer, 'status')
    const now = status === undefined ? '' : `, which is ${textOf(status)} now`
    return `delete the computer ${labelOf(computer)}${now}`
  },
  ask: (client, id) => client.computers.delete(id),
  came: () => ({ deleted: true }),
  said: (label) => `${label} is deleted`,
})

function action({ examples, what, ask, came, said, advice }: Action) {
  return defineCommand({
    examples,
    options: { ...platformOptions, ...changeOptions, ...computerArgument },
    run: async (flags, terminal) => {
      requireConsent(flags, terminal)
      const conversation = { advice: { ...ON_COMPUTERS, ...advice } }
      return withPlatform(flags, terminal, conversation, async (platform) => {
        const { value: computer } = await computerOf(platform, flags.computer)
        const id = textOf(fieldOf(computer, 'id'))
        const asks = [(client: PlatformClient) => ask(client, id)]
        const change = { what: what(computer), asks }
        if (!(await mayChange(platform, flags, terminal, change))) return ExitCode.complete
        const result = came(await ask(platform.client, id), platform)
        const name = fieldOf(computer, 'name') ?? null
        return flags.json
          ? valueJson({ computer_id: id, computer_name: name, ...result })
          : proseText(said(labelOf(computer), result))
      })
    },
  })
}

const INSTALL_STEP = 'install-deps'

/** The specification names `Running` alone; the others are guesses at further names. */
const RUNNING = /^(?:running|started|starting|in[-_ ]?progress)$/i
const WAITING = /^(?:pending|queued|waiting)$/i
const FAILED = /^(?:error|errored|failed|failure|cancell?ed|timed[-_ ]?out)$/i

export const waitForComputer = defineCommand({
  examples: [
    ['$0 computers wait build-farm', 'until it is active (0) or in error (1)'],
    ['$0 computers wait build-farm --timeout 5m --interval 10s', 'at most 5 minutes (4)'],
  ],
  options: { ...platformOptions, ...pollOptions('20m'), ...computerArgument },
  run: async (flags, terminal) => {
    const polling = pollingOf(flags)
    const conversation = { advice: ON_COMPUTERS, patienceMs: polling.patienceMs }
    return withPlatform(flags, terminal, conversation, async (platform) => {
      const found = await computerOf(platform, flags.computer)
      const id = textOf(fieldOf(found.value, 'id'))
      let first: Clean | undefined = found
      const { computer, exitCode } = await poll(platform, polling, async () => {
        const computer = first ?? (await computerOf(platform, id))
        first = undefined
        return lookAt(computer)
      })
      terminal.out(
        flags.json
          ? itemJson(computer.text)
          : proseText(`${labelOf(computer.value)} ${stateOf(computer.value)}`),
      )
      return exitCode
    })
  },
})

interface Waited {
  readonly computer: Clean
  readonly exitCode: ExitCode
}

/** It is over when the computer is active or in error, and no install is running. */
function lookAt(computer: Clean): Look<Waited> {
  const { value } = computer
  const state = `${labelOf(value)} ${stateOf(value)}`
  const status = fieldOf(value, 'status')
  const install = installOf(value)
  if (isIn(RUNNING, install)) return { state }
  if (status === 'error') {
    return { state, outcome: { computer, exitCode: ExitCode.unexpected } }
  }
  if (status !== 'active' || isIn(WAITING, install)) return { state }
  const exitCode = isIn(FAILED, install) ? ExitCode.unexpected : ExitCode.complete
  return { state, outcome: { computer, exitCode } }
}

function stateOf(computer: unknown): string {
  const status = textOf(fieldOf(computer, 'status') ?? 'in no known status')
  const steps = listAt(computer, 'provisioningSteps')
  const step = [FAILED, RUNNING].map((kind) => steps.find((each) => isIn(kind, each))).find(Boolean)
  if (step === undefined) return `is ${status}`
  const error = fieldOf(step, 'error')
  const why = error === undefined || error === null ? '' : `: ${textOf(error)}`
  return `is ${status}, ${textOf(fieldOf(step, 'id'))} ${textOf(fieldOf(step, 'status'))}${why}`
}

function installOf(computer: unknown): unknown {
  return listAt(computer, 'provisioningSteps').find((step) =>
    [fieldOf(step, 'id'), fieldOf(step, 'name')].includes(INSTALL_STEP),
  )
}

function isIn(kind: RegExp, step: unknown): boolean {
  return kind.test(textOf(fieldOf(step, 'status')))
}
