import { fieldOf } from '../../client/index.ts'
import { text, type Group, type Terminal } from '../command.ts'
import {
  computerArgument,
  computerOf,
  deleteComputer,
  installDependencies,
  ON_COMPUTERS,
  refreshComputer,
  restartComputer,
  waitForComputer,
} from './computer-actions.ts'
import { platformCommand } from './platform.ts'
import {
  epochTime,
  fieldsOf,
  fieldsText,
  listAt,
  served,
  tableText,
  textOf,
  timeOf,
} from './render.ts'

const listComputers = platformCommand({
  examples: [['$0 computers list', 'list the computers and their status']],
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
  examples: [
    ['$0 computers show build-farm', 'show a computer by name, with its provisioning steps'],
    [`$0 computers show ${COMPUTER} --json`, 'show a computer by id, as JSON as served'],
  ],
  options: computerArgument,
  advice: ON_COMPUTERS,
  work: (flags, terminal) => async (platform) => {
    const computer = await computerOf(platform, flags.computer)
    return { json: computer.text, text: computerText(computer.value, terminal) }
  },
})

const METRICS = ['cpuUsedPct', 'cpuCount', 'memUsed', 'memTotal', 'diskUsed', 'diskTotal']

const showMetrics = platformCommand({
  examples: [
    ['$0 computers metrics build-farm', 'show processor, memory and disk, one row per sample'],
    [
      '$0 computers metrics build-farm --start 2026-03-01T06:00:00Z --json',
      'show samples from a time on, as JSON as served',
    ],
  ],
  options: {
    start: text('first time, such as 2026-03-01T06:00:00Z (default: the platform decides)'),
    ...computerArgument,
  },
  advice: ON_COMPUTERS,
  work: (flags, terminal) => async (platform) => {
    const { value } = await computerOf(platform, flags.computer)
    const id = textOf(fieldOf(value, 'id'))
    const query = flags.start === undefined ? {} : { start: flags.start }
    const { items } = await platform.client.computers.fetchMetrics(id, query)
    const samples = items.map((item) => platform.clean('computer_metrics', item.text))
    // As served: the units of memory and disk are not documented.
    const rows = samples.map((sample) => [
      timeOf(fieldOf(sample.value, 'timestamp')),
      ...fieldsOf(sample.value, ...METRICS),
    ])
    return served(samples, tableText(['sampled_at', ...METRICS], rows, terminal))
  },
})

export const computers: Group = {
  entries: [
    ['list', 'list the computers of the organisation', listComputers],
    ['show <computer>', 'show a computer and its provisioning steps', showComputer],
    ['metrics <computer>', 'show samples of processor, memory and disk', showMetrics],
    [
      'install-deps <computer>',
      'install the dependencies of a computer again',
      installDependencies,
    ],
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
  ],
}

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
