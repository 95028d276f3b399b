import { dataOptions, type Command, type OptionsOf } from './command.ts'
import { hooksRun } from './hooks-run.ts'

/**
 * For `--help`, and for `--debug hooks run`: as it is registered, `main.ts` goes
 * past the parser.
 */
export const hooksRunCommand: Command<OptionsOf<typeof dataOptions>> = {
  examples: [
    [
      `echo '{"hook_event_name":"Stop"}' | $0 hooks run`,
      'what the agent runs; ends with 0 in any case',
    ],
  ],
  options: dataOptions,
  run: ({ data, config }, { environment, cwd }) =>
    hooksRun(
      [
        ...(data === undefined ? [] : ['--data', data]),
        ...(config === undefined ? [] : ['--config', config]),
      ],
      { ...environment },
      cwd,
    ),
}
