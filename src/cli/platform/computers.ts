import { fieldOf } from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import type { Command, OptionsOf } from '../command.ts'
import { computersText, computerText, metricsText } from './computer-text.ts'
import { computerOf, ON_COMPUTERS } from './computer.ts'
import { platformOptions, withPlatform } from './platform.ts'
import { itemJson, itemsJson, textOf } from './render.ts'
import type { Argv } from 'yargs'

const listOptions = (yargs: Argv) => platformOptions(yargs)

/** The computer that a command is about. */
export const computerOptions = (yargs: Argv) =>
  platformOptions(yargs).positional('computer', {
    type: 'string',
    demandOption: true,
    describe: 'its id or its name',
  })

const metricsOptions = (yargs: Argv) =>
  computerOptions(yargs).option('start', {
    type: 'string',
    requiresArg: true,
    describe: 'samples from this time on, 2026-03-01T06:00:00Z (default: as the platform likes)',
  })

export const listComputers: Command<OptionsOf<typeof listOptions>> = {
  examples: [['$0 computers list', 'every computer of the organisation, and how it is']],
  options: listOptions,
  run: async (flags, terminal) =>
    withPlatform(flags, terminal, {}, async ({ client, clean }) => {
      const { items } = await client.computers.fetchAll()
      const computers = items.map((item) => clean('computers', item))
      terminal.out(
        flags.json
          ? itemsJson(computers.map(({ text }) => text))
          : computersText(
              computers.map(({ value }) => value),
              terminal,
            ),
      )
      return ExitCode.complete
    }),
}

export const showComputer: Command<OptionsOf<typeof computerOptions>> = {
  examples: [
    ['$0 computers show build-farm', 'by name: what it is, and how its provisioning goes'],
    ['$0 computers show 3c817680-7209-4c96-a3cd-7db1db9cbd67 --json', 'by id, as served'],
  ],
  options: computerOptions,
  run: async (flags, terminal) =>
    withPlatform(flags, terminal, { advice: ON_COMPUTERS }, async (platform) => {
      const { text, value } = await computerOf(platform, flags.computer)
      terminal.out(flags.json ? itemJson(text) : computerText(value, terminal))
      return ExitCode.complete
    }),
}

export const showMetrics: Command<OptionsOf<typeof metricsOptions>> = {
  examples: [
    ['$0 computers metrics build-farm', 'processor, memory and disk, a row a sample'],
    ['$0 computers metrics build-farm --start 2026-03-01T06:00:00Z --json', 'as served'],
  ],
  options: metricsOptions,
  run: async (flags, terminal) =>
    withPlatform(flags, terminal, { advice: ON_COMPUTERS }, async (platform) => {
      const { value } = await computerOf(platform, flags.computer)
      const { start } = flags
      const { items } = await platform.client.computers.fetchMetrics(
        textOf(fieldOf(value, 'id')),
        start === undefined ? {} : { start },
      )
      const samples = items.map((item) => platform.clean('computer_metrics', item))
      terminal.out(
        flags.json
          ? itemsJson(samples.map(({ text }) => text))
          : metricsText(
              samples.map((sample) => sample.value),
              terminal,
            ),
      )
      return ExitCode.complete
    }),
}
