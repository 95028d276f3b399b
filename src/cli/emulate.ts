import { once } from 'node:events'
import { parseDay } from '../lib/days.ts'
import { ExitCode } from '../lib/errors.ts'
import { startEmulator } from '../emulator/emulator.ts'
import { defineCommand, number, textOr } from './command.ts'
import { wholeOf } from './options.ts'

const MAX_PORT = 65_535

export const emulateCommand = defineCommand({
  examples: [
    ['$0 emulate', 'on port 8787, until Ctrl-C'],
    ['$0 emulate --users 10000 --rate 5', 'a large organisation, and a strict limit'],
  ],
  options: {
    port: { type: 'number', default: 8787, describe: 'port of the API host; 0 is a free one' },
    'app-port': {
      type: 'number',
      default: 0,
      describe: 'port of the web application host (readiness reports); 0 is a free one',
    },
    users: { ...number('people in the organisation'), default: 40 },
    seed: { type: 'number', default: 1, describe: 'another seed is another organisation' },
    from: textOr('2026-01-14', 'first day of the history'),
    rate: number('requests a second before it answers 429'),
    burst: number('requests at once before it answers 429'),
  },
  run: async (flags, terminal) => {
    const { seed, rate, burst } = flags
    const options = {
      port: wholeOf(flags.port, '--port', 0, MAX_PORT),
      appPort: wholeOf(flags.appPort, '--app-port', 0, MAX_PORT),
      users: wholeOf(flags.users, '--users', 1),
      firstDay: parseDay(flags.from, '--from'),
    }
    const isEnded = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    const emulator = await startEmulator({
      ...options,
      seed,
      now: () => Date.now(),
      remember: 0,
      ...(rate === undefined ? {} : { rate }),
      ...(burst === undefined ? {} : { burst }),
    })
    terminal.out(
      [
        `The stand-in platform listens on ${emulator.url}`,
        `and its web application, with the readiness reports, on ${emulator.appUrl}`,
        ...Object.entries(emulator.keys).map(([role, key]) => `  key of the ${role}: ${key}`),
        'In another terminal:',
        `  AGENT_BASE_URL=${emulator.url} AGENT_APP_URL=${emulator.appUrl} AGENT_API_KEY=${emulator.keys.manager} agent-warehouse run`,
        'Ctrl-C ends it.',
        '',
      ].join('\n'),
    )
    await isEnded
    await emulator.close()
    return ExitCode.complete
  },
})
