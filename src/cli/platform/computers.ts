import { ApiError, fieldOf, lengthOfName, MAX_COMPUTER_NAME } from '../../client/index.ts'
import { argument, defineCommand, text } from '../command.ts'
import { computersText, computerText, metricsText } from './computer-text.ts'
import type { Advice } from './failures.ts'
import { platformOptions, withPlatform, type Clean, type Platform } from './platform.ts'
import { itemJson, listText, textOf } from './render.ts'

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
