import {
  ApiError,
  fieldOf,
  lengthOfName,
  MAX_COMPUTER_NAME,
  type ApiClient,
} from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import { argument } from '../command.ts'
import { changeOptions, mayChange, type Ask } from './change.ts'
import { platformCommand, type Advice, type Platform } from './platform.ts'
import { patienceOf, poll, pollOptions, type Check } from './poll.ts'
import { listAt, proseText, textOf, type Clean } from './render.ts'

/** What to do next after a request about a computer. */
export const ON_COMPUTERS: Advice = {
  404: 'agent-warehouse computers list shows all computers.',
}

export const computerArgument = { computer: argument('id or name of the computer') }

export async function computerOf({ client, clean }: Platform, idOrName: string): Promise<Clean> {
  const item = await client.computers.fetch(idOrName).catch((error: unknown) => {
    const isNoId = error instanceof ApiError && [400, 404, 422].includes(error.status)
    if (!isNoId || lengthOfName(idOrName) > MAX_COMPUTER_NAME) throw error
    return client.computers.fetchByName(idOrName)
  })
  return clean('computers', item.items[0]?.text ?? '{}')
}

function labelOf(computer: unknown): string {
  return `${textOf(fieldOf(computer, 'name'))} (${textOf(fieldOf(computer, 'id'))})`
}

interface Action {
  readonly examples: readonly [string, string][]
  readonly what: (label: string, computer: unknown) => string
  readonly ask: (client: ApiClient, computerId: string) => Promise<unknown>
  /** The result without secrets: fields for machines. */
  readonly json: (answer: unknown, platform: Platform) => object
  /** The same in a line for people. */
  readonly text: (label: string, answer: unknown) => string
  readonly advice?: Advice
}

export const installDependencies = action({
  examples: [
    [
      '$0 computers install-deps build-farm && $0 computers wait build-farm',
      'install, and wait until that is done',
    ],
  ],
  what: (label) => `install the dependencies of ${label} again`,
  ask: (client, id) => client.computers.installDependencies(id),
  json: (answer, { clean }) => ({ computer: clean('computers', JSON.stringify(answer)).value }),
  text: (label) =>
    `The dependencies of ${label} are being installed; agent-warehouse computers wait waits until that is done`,
  advice: {
    409: 'Wait for the install that is running: agent-warehouse computers wait <computer>',
  },
})

export const refreshComputer = action({
  examples: [['$0 computers refresh build-farm', 'set up Git credentials and environment again']],
  what: (label) => `set up the credentials and the environment of ${label} again`,
  ask: (client, id) => client.computers.refresh(id),
  json: (answer) => ({ configured: fieldOf(answer, 'configured') ?? null }),
  text: (label, answer) =>
    `${label}: ${textOf(fieldOf(answer, 'configured') ?? null)} integrations were configured`,
})

export const restartComputer = action({
  examples: [['$0 computers restart build-farm', 'restart a managed computer']],
  what: (label) => `restart the computer ${label}`,
  ask: (client, id) => client.computers.restart(id),
  json: () => ({ restarted: true }),
  text: (label) => `${label} restarts; agent-warehouse computers wait waits until it is back`,
})

export const deleteComputer = action({
  examples: [['$0 computers delete build-farm --dry-run', 'show what would be sent']],
  what: (label, computer) => {
    const status = fieldOf(computer, 'status')
    const now = status === undefined ? '' : `, which is ${textOf(status)} now`
    return `delete the computer ${label}${now}`
  },
  ask: (client, id) => client.computers.delete(id),
  json: () => ({ deleted: true }),
  text: (label) => `${label} is deleted`,
})

function action({ examples, what, ask, json, text, advice }: Action) {
  return platformCommand({
    examples,
    options: { ...changeOptions, ...computerArgument },
    advice: { ...ON_COMPUTERS, ...advice },
    work: (flags) => async (platform) => {
      const { value: computer } = await computerOf(platform, flags.computer)
      const id = textOf(fieldOf(computer, 'id'))
      const label = labelOf(computer)
      const request: Ask = (client) => ask(client, id)
      if (!(await mayChange(platform, what(label, computer), [request]))) return ExitCode.complete
      const answer = await request(platform.client)
      const name = fieldOf(computer, 'name') ?? null
      return {
        json: { computer_id: id, computer_name: name, ...json(answer, platform) },
        text: proseText(text(label, answer)),
      }
    },
  })
}

export const waitForComputer = platformCommand({
  examples: [
    ['$0 computers wait build-farm', 'wait until it is active (exit code 0) or in error (1)'],
    [
      '$0 computers wait build-farm --timeout 5m --interval 10s',
      'wait at most 5 minutes, then exit with 4',
    ],
  ],
  options: { ...pollOptions('20m'), ...computerArgument },
  advice: ON_COMPUTERS,
  patienceOf,
  work: (flags) => async (platform) => {
    let idOrName = flags.computer
    const { computer, exitCode } = await poll(platform, flags, async () => {
      const found = await computerOf(platform, idOrName)
      idOrName = textOf(fieldOf(found.value, 'id')) // also when its name changes meanwhile
      return checkOf(found)
    })
    return { json: computer.text, text: proseText(stateOf(computer.value)), exitCode }
  },
})

const INSTALL_STEP = 'install-deps'

/** The specification names `Running` alone; the others are guesses at further names. */
const RUNNING = /^(?:running|started|starting|in[-_ ]?progress)$/i
const WAITING = /^(?:pending|queued|waiting)$/i
const FAILED = /^(?:error|errored|failed|failure|cancell?ed|timed[-_ ]?out)$/i

/** It is over when the computer is active or in error, and no install is running. */
function checkOf(computer: Clean): Check<{ computer: Clean; exitCode: ExitCode }> {
  const state = stateOf(computer.value)
  const status = fieldOf(computer.value, 'status')
  const install = listAt(computer.value, 'provisioningSteps').find((step) =>
    [fieldOf(step, 'id'), fieldOf(step, 'name')].includes(INSTALL_STEP),
  )
  if (isIn(RUNNING, install)) return { state }
  if (status === 'error') return { state, outcome: { computer, exitCode: ExitCode.unexpected } }
  if (status !== 'active' || isIn(WAITING, install)) return { state }
  const exitCode = isIn(FAILED, install) ? ExitCode.unexpected : ExitCode.complete
  return { state, outcome: { computer, exitCode } }
}

function stateOf(computer: unknown): string {
  const status = textOf(fieldOf(computer, 'status') ?? 'in an unknown status')
  const is = `${labelOf(computer)} is ${status}`
  const steps = listAt(computer, 'provisioningSteps')
  const step = [FAILED, RUNNING].map((kind) => steps.find((each) => isIn(kind, each))).find(Boolean)
  if (step === undefined) return is
  const error = fieldOf(step, 'error') ?? null
  const why = error === null ? '' : `: ${textOf(error)}`
  return `${is}, ${textOf(fieldOf(step, 'id'))} ${textOf(fieldOf(step, 'status'))}${why}`
}

function isIn(kind: RegExp, step: unknown): boolean {
  return kind.test(textOf(fieldOf(step, 'status')))
}
