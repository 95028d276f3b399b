import { ApiError, fieldOf, lengthOfName, MAX_COMPUTER_NAME } from '../../client/index.ts'
import { argument, defineCommand, text, type Terminal } from '../command.ts'
import {
  type Advice,
  platformOptions,
  withPlatform,
  type Clean,
  type Platform,
} from './platform.ts'
import { itemJson, listText, textOf, fieldsText, listAt, tableText, timeOf } from './render.ts'

/** What to do next after a request about a computer. */
export const ON_COMPUTERS: Advice = {
  404: 'agent-warehouse computers list shows the computers that there are.',
}

/** The computer that a command is about. */
export const computerArgument = { computer: argument('its id or its name') }

export const listComputers = defineCommand({
  examples: [['$0 computers list', 'every computer of the organisation, and how it is']],
  options: platformOptions,
  run: (flags, terminal) =>
    withPlatform(flags, terminal, {}, async ({ client, clean }) => {
      const { items } = await client.computers.fetchAll()
      const computers = items.map((item) => clean('computers', item))
      return listText(computers, flags, (values) => computersText(values, terminal))
    }),
})

export const showComputer = defineCommand({
  examples: [
    ['$0 computers show build-farm', 'by name: what it is, and how its provisioning goes'],
    ['$0 computers show 3c817680-7209-4c96-a3cd-7db1db9cbd67 --json', 'by id, as served'],
  ],
  options: { ...platformOptions, ...computerArgument },
  run: (flags, terminal) =>
    withPlatform(flags, terminal, { advice: ON_COMPUTERS }, async (platform) => {
      const computer = await computerOf(platform, flags.computer)
      return flags.json ? itemJson(computer.text) : computerText(computer.value, terminal)
    }),
})

export const showMetrics = defineCommand({
  examples: [
    ['$0 computers metrics build-farm', 'processor, memory and disk, a row a sample'],
    ['$0 computers metrics build-farm --start 2026-03-01T06:00:00Z --json', 'as served'],
  ],
  options: {
    ...platformOptions,
    start: text('samples from this time on, 2026-03-01T06:00:00Z (default: up to the platform)'),
    ...computerArgument,
  },
  run: (flags, terminal) =>
    withPlatform(flags, terminal, { advice: ON_COMPUTERS }, async (platform) => {
      const { value } = await computerOf(platform, flags.computer)
      const { items } = await platform.client.computers.fetchMetrics(
        textOf(fieldOf(value, 'id')),
        flags.start === undefined ? {} : { start: flags.start },
      )
      const samples = items.map((item) => platform.clean('computer_metrics', item))
      return listText(samples, flags, (values) => metricsText(values, terminal))
    }),
})

/** The computer of that id, or else of that name. */
export async function computerOf({ client, clean }: Platform, idOrName: string): Promise<Clean> {
  const item = await client.computers.fetch(idOrName).catch((error: unknown) => {
    if (!mayBeName(error, idOrName)) throw error
    return client.computers.fetchByName(idOrName)
  })
  return clean('computers', { text: item.items[0]?.text ?? '{}' })
}

/** The name and the id, for people. */
export function labelOf(computer: unknown): string {
  return `${textOf(fieldOf(computer, 'name'))} (${textOf(fieldOf(computer, 'id'))})`
}

function mayBeName(error: unknown, idOrName: string): boolean {
  const isNoId = error instanceof ApiError && [400, 404, 422].includes(error.status)
  return isNoId && lengthOfName(idOrName) <= MAX_COMPUTER_NAME
}

/** Computers, one a row. */
export function computersText(computers: readonly unknown[], terminal: Terminal): string {
  const rows = computers.map((each) => [
    fieldOf(each, 'id'),
    fieldOf(each, 'name'),
    fieldOf(each, 'status'),
    fieldOf(each, 'providerType'),
    fieldOf(each, 'hostname'),
    epochTime(fieldOf(each, 'createdAt')),
  ])
  const columns = ['id', 'name', 'status', 'provider', 'hostname', 'created_at']
  return tableText(columns, rows, terminal)
}

/** One computer with the steps of its provisioning. */
export function computerText(computer: unknown, terminal: Terminal): string {
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
    fieldOf(step, 'id'),
    fieldOf(step, 'status'),
    epochTime(fieldOf(step, 'startedAt')),
    epochTime(fieldOf(step, 'completedAt')),
    fieldOf(step, 'installSessionId'),
    fieldOf(step, 'error'),
  ])
  if (steps.length === 0) return header
  const columns = ['step', 'status', 'started_at', 'completed_at', 'install_session', 'error']
  return `${header}\n${tableText(columns, steps, terminal)}`
}

/** Samples as served: the units of memory and disk are not documented. */
export function metricsText(samples: readonly unknown[], terminal: Terminal): string {
  const rows = samples.map((sample) => [
    timeOf(fieldOf(sample, 'timestamp')),
    ...METRICS.map((name) => fieldOf(sample, name)),
  ])
  return tableText(['sampled_at', ...METRICS.map((number) => ({ number }))], rows, terminal)
}

const METRICS = ['cpuUsedPct', 'cpuCount', 'memUsed', 'memTotal', 'diskUsed', 'diskTotal']

/** A Unix time whose unit is not documented, told by its size, as sql/base tells it. */
function epochTime(value: unknown): unknown {
  if (typeof value !== 'number') return timeOf(value)
  if (value < 1e11) return timeOf(value * 1e3)
  if (value < 1e14) return timeOf(value)
  return timeOf(value < 1e17 ? value / 1e3 : value / 1e6)
}
