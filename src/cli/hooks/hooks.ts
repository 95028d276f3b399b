import { dataOptions, defineCommand, command } from '../command.ts'
import { hooksInstallCommand, hooksUninstallCommand } from './install.ts'
import { hooksRun } from './run.ts'
import { hooksFlushCommand, hooksTestCommand } from './send.ts'
import { hooksStatusCommand } from './status.ts'

/**
 * For `--help`, and for `--debug hooks run`: as it is registered, `main.ts` goes
 * past the parser.
 */
const hooksRunCommand = defineCommand({
  examples: [
    [
      `echo '{"hook_event_name":"Stop"}' | $0 hooks run`,
      'what the agent runs; ends with 0 in any case',
    ],
  ],
  options: dataOptions,
  run: ({ data, config }, { environment, cwd }) => {
    const folder = data === undefined ? [] : ['--data', data]
    const file = config === undefined ? [] : ['--config', config]
    return hooksRun([...folder, ...file], { ...environment }, cwd)
  },
})

/** `hooks install`, `hooks status` …: what the agent reports of itself while it works. */
export const hooksGroup = [
  command('install', "register the command in the agent's settings file", hooksInstallCommand),
  command('uninstall', 'remove what install put into the settings file', hooksUninstallCommand),
  command('status', 'what is registered, recorded and not yet delivered', hooksStatusCommand),
  command('test <channel>', 'send one notification to a channel', hooksTestCommand),
  command('flush', 'deliver the notifications that wait', hooksFlushCommand),
  command('run', 'what is registered: record one event from standard input', hooksRunCommand),
]
