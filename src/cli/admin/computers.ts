import {
  ApiError,
  fieldOf,
  lengthOfName,
  MAX_COMPUTER_NAME,
  type ApiClient,
} from '../../client/index.ts'
import { ExitCode, UsageError } from '../../lib/errors.ts'
import { argument, text, type Entry, type Examples, type Terminal } from '../command.ts'
import {
  changeOptions,
  mayChange,
  platformCommand,
  type Advice,
  type Ask,
  type Platform,
} from './platform.ts'
import { patienceOf, poll, pollOptions, type Check } from './poll.ts'
import {
  epochTime,
  fieldsOf,
  fieldsText,
  listAt,
  sentenceText,
  served,
  tableText,
  textOf,
  timeOf,
  type Clean,
} from './render.ts'

/** What to do next after a request about a computer. */
const ON_COMPUTERS: Advice = {
  404: 'agent-warehouse computers list shows all computers.',
}

const computerArgument = { computer: argument('id or name of the computer') }

/** @throws UsageError if it is a name that several computers have. */
async function computerOf(platform: Platform, idOrName: string): Promise<Clean> {
  const { client, clean } = platform
  const item = await client.computers.fetch(idOrName).catch(async (error: unknown) => {
    const isNoId = error instanceof ApiError && [400, 404, 422].includes(error.status)
    if (!isNoId || lengthOfName(idOrName) > MAX_COMPUTER_NAME) throw error
    const named = await client.computers.fetchByName(idOrName)
    await refuseAmbiguous(platform, idOrName)
    return named
  })
  return clean('computers', item.items[0]?.text ?? '{}')
}

/** The platform answers a name with one computer, even if others have it too. */
async function refuseAmbiguous({ client, clean }: Platform, name: string): Promise<void> {
  const { items } = await client.computers.fetchAll()
  const named = items
    .map((item) => clean('computers', item.text).value)
    .filter((computer) => fieldOf(computer, 'name') === name)
  if (named.length <= 1) return
  const ids = named.map((computer) => textOf(fieldOf(computer, 'id')))
  throw new UsageError(`${named.length} computers have the name '${name}'`, {
    hint: `Use the id of one of them: ${ids.join(', ')}`,
  })
}

const listComputers = platformCommand({
  examples: { '$0 computers list': 'list the computers and their status' },
  options: {},
  work: (_, terminal) => async (platform) => {
    const { items } = await platform.client.computers.fetchAll()
    const computers = items.map((item) => platform.clean('computers', item.text))
    const rows = computers.map(({ value }) => [
      ...fieldsOf(value, 'id', 'name', 'status', 'providerType', 'hostname'),
      epochTime(fieldOf(value, 'createdAt')),
    ])
    const columns = ['id', 'name', 'status', 'provider', 'hostname', 'created_at']
    return served(computers, tableText(columns, rows, terminal))
  },
})

const COMPUTER = '3c817680-7209-4c96-a3cd-7db1db9cbd67'

const showComputer = platformCommand({
  examples: {
    '$0 computers show build-farm': 'show a computer by name, with its provisioning steps',
    [`$0 computers show ${COMPUTER} --json`]: 'show a computer by id as raw JSON',
  },
  options: computerArgument,
  advice: ON_COMPUTERS,
  work: (flags, terminal) => async (platform) => {
    const computer = await computerOf(platform, flags.computer)
    return { json: computer.text, text: computerText(computer.value, terminal) }
  },
})

const METRICS = ['cpuUsedPct', 'cpuCount', 'memUsed', 'memTotal', 'diskUsed', 'diskTotal']

const showMetrics = platformCommand({
  examples: {
    '$0 computers metrics build-farm': 'show processor, memory and disk, one row per sample',
    '$0 computers metrics build-farm --start 2026-03-01T06:00:00Z --json':
      'show the samples since a time as raw JSON',
  },
  options: {
    start: text('first time, such as 2026-03-01T06:00:00Z (default: the platform decides)'),
    ...computerArgument,
  },
  advice: ON_COMPUTERS,
  work: (flags, terminal) => async (platform) => {
    const { value } = await computerOf(platform, flags.computer)
    const id = textOf(fieldOf(value, 'id'))
    const { items } = await platform.client.computers.fetchMetrics(id, { start: flags.start })
    const samples = items.map((item) => platform.clean('computer_metrics', item.text))
    // As served: the units of memory and disk are not documented.
    const rows = samples.map((sample) => [
      timeOf(fieldOf(sample.value, 'timestamp')),
      ...fieldsOf(sample.value, ...METRICS),
    ])
    return served(samples, tableText(['sampled_at', ...METRICS], rows, terminal))
  },
})

function labelOf(computer: unknown): string {
  return `${textOf(fieldOf(computer, 'name'))} (${textOf(fieldOf(computer, 'id'))})`
}

interface Action {
  readonly examples: Examples
  readonly what: (label: string, computer: unknown) => string
  readonly ask: (client: ApiClient, computerId: string) => Promise<unknown>
  /** The result without secrets: fields for machines. */
  readonly json: (response: unknown, platform: Platform) => object
  /** The same in a line for people. */
  readonly text: (label: string, response: unknown) => string
  readonly advice?: Advice
}

const installDependencies = action({
  examples: {
    '$0 computers install-deps build-farm && $0 computers wait build-farm':
      'install the dependencies, and wait until the install has ended',
  },
  what: (label) => `install the dependencies of ${label} again`,
  ask: (client, id) => client.computers.installDependencies(id),
  json: (response, { clean }) => ({ computer: clean('computers', JSON.stringify(response)).value }),
  text: (label) =>
    `The dependencies of ${label} are being installed; to wait until that has ended: agent-warehouse computers wait`,
  advice: {
    409: 'Wait for the install that is running: agent-warehouse computers wait <computer>',
  },
})

const refreshComputer = action({
  examples: { '$0 computers refresh build-farm': 'set up Git credentials and environment again' },
  what: (label) => `set up the credentials and the environment of ${label} again`,
  ask: (client, id) => client.computers.refresh(id),
  json: (response) => ({ configured: fieldOf(response, 'configured') ?? null }),
  text: (label, response) =>
    `${label}: ${textOf(fieldOf(response, 'configured') ?? null)} integrations were configured`,
})

const restartComputer = action({
  examples: { '$0 computers restart build-farm': 'restart a managed computer' },
  what: (label) => `restart the computer ${label}`,
  ask: (client, id) => client.computers.restart(id),
  json: () => ({ restarted: true }),
  text: (label) =>
    `${label} is restarting; to wait until it is back: agent-warehouse computers wait`,
})

const deleteComputer = action({
  examples: { '$0 computers delete build-farm --dry-run': 'show what would be sent' },
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
      const response = await request(platform.client)
      const name = fieldOf(computer, 'name') ?? null
      return {
        json: { computer_id: id, computer_name: name, ...json(response, platform) },
        text: sentenceText(text(label, response)),
      }
    },
  })
}

const waitForComputer = platformCommand({
  examples: {
    '$0 computers wait build-farm': 'wait until it is active (exit code 0) or in error (1)',
    '$0 computers wait build-farm --timeout 5m --interval 10s':
      'wait at most 5 minutes, then exit with 4',
  },
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
    return { json: computer.text, text: sentenceText(stateOf(computer.value)), exitCode }
  },
})

const INSTALL_STEP = 'install-deps'

/** The specification names only `Running`; the others are guesses. */
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

export const computers: readonly Entry[] = [
  ['list', 'list the computers of the organisation', listComputers],
  ['show <computer>', 'show a computer and its provisioning steps', showComputer],
  ['metrics <computer>', 'show samples of processor, memory and disk', showMetrics],
  ['install-deps <computer>', 'install the dependencies of a computer again', installDependencies],
  [
    'refresh <computer>',
    'set up the credentials and environment of a computer again',
    refreshComputer,
  ],
  ['restart <computer>', 'restart a managed computer', restartComputer],
  ['delete <computer>', 'delete a computer', deleteComputer],
  [
    'wait <computer>',
    'wait until a computer is active or in error, and no install is running',
    waitForComputer,
  ],
]

function computerText(computer: unknown, terminal: Terminal): string {
  const header = fieldsText([
    ['id', fieldOf(computer, 'id')],
    ['name', fieldOf(computer, 'name')],
    ['status', fieldOf(computer, 'status')],
    ['provider', fieldOf(computer, 'providerType')],
    ['created at', epochTime(fieldOf(computer, 'createdAt'))],
    ['host', fieldOf(computer, 'hostId')],
    ['hostname', fieldOf(computer, 'hostname')],
    ['remote user', fieldOf(computer, 'remoteUser')],
    ['relay for clients', fieldOf(computer, 'relayClientUrl')],
    ['relay for agents', fieldOf(computer, 'relayAgentUrl')],
  ])
  const steps = listAt(computer, 'provisioningSteps').map((step) => [
    ...fieldsOf(step, 'id', 'status'),
    ...fieldsOf(step, 'startedAt', 'completedAt').map(epochTime),
    ...fieldsOf(step, 'installSessionId', 'error'),
  ])
  if (steps.length === 0) return header
  const columns = ['step', 'status', 'started_at', 'completed_at', 'install_session', 'error']
  return `${header}\n${tableText(columns, steps, terminal)}`
}
