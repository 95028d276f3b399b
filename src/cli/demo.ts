import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { MS_PER_DAY, dayOf, parseDay } from '../lib/days.ts'
import { ExitCode, UsageError } from '../lib/errors.ts'
import { startEmulator } from '../emulator/emulator.ts'
import { run } from '../pipeline/run.ts'
import { formatResult } from '../serve/format.ts'
import { query, analysis } from '../serve/query.ts'
import { reportPath } from '../serve/report/report.ts'
import { listIfThere, readIfThere, writeAtomic } from '../lib/files.ts'
import { warehousePath } from '../lake/layout.ts'
import { demoAnomalies, restateFrom, writeDemoData } from './demo-data.ts'
import { configured, defineCommand, logOption, number, textOr, type Terminal } from './command.ts'
import { runJob } from './job.ts'
import { checkWhole } from '../lib/numbers.ts'
import { shellWord } from '../lib/text.ts'

const MARK = '.demo'
const REPORT = { formats: ['html' as const], people: false }

const QUESTIONS = ['active_users_by_week', 'spend_by_model_this_month', 'mcp_servers_last_28_days']

export const demoCommand = defineCommand({
  examples: { '$0 demo': 'run two simulated nights, then answer three questions' },
  options: {
    ...logOption,
    data: textOr('./data/demo', 'data folder of the demo; replaced each time'),
    users: { ...number('number of users in the organisation'), default: 40 },
  },
  run: async (flags, terminal) => {
    const users = checkWhole('--users', flags.users, 1)
    const folder = resolve(terminal.cwd, flags.data)
    // a configuration in the working folder is not for the demo
    const config = configured({ data: folder }, { environment: {}, cwd: folder })
    await startAfresh(config.dataFolder)
    let offset = -MS_PER_DAY
    const now = () => terminal.now() + offset
    const emulator = await startEmulator({
      now,
      users,
      anomalies: demoAnomalies(dayOf(now())),
      remember: 0,
      intercept: restateFrom(now() + MS_PER_DAY, now),
    })
    const organisation = {
      name: 'demo',
      baseUrl: emulator.url,
      appUrl: emulator.appUrl,
      keySource: 'the stand-in platform',
      key: emulator.keys.manager,
      isFromFile: false,
      keyWarning: null,
      problem: null,
    }
    const organisations = [organisation]
    const hosts = () => organisations
    const job = {
      command: 'demo',
      log: flags.log,
      json: false,
      config: { ...config, rate: 1000, hosts, organisations: hosts, report: REPORT },
      maxDurationMs: MS_PER_DAY,
      organisations,
    }
    try {
      await writeDemoData(config.dataFolder, emulator, now())
      for (const night of ['first', 'second']) {
        terminal.out(`The ${night} night\n\n`)
        const exitCode = await runJob(job, { ...terminal, environment: {}, now }, (context, runs) =>
          run(context, {}, runs),
        )
        if (exitCode !== ExitCode.complete) return exitCode
        terminal.out('\n')
        offset += MS_PER_DAY
      }
    } finally {
      await emulator.close()
    }
    await answer(config.dataFolder, terminal)
    return ExitCode.complete
  },
})

async function answer(dataFolder: string, terminal: Terminal): Promise<void> {
  const warehouse = warehousePath(dataFolder)
  const data = `--data ${shellWord(dataFolder)}`
  for (const { question, sql } of QUESTIONS.map(analysis)) {
    const table = await query(warehouse, sql)
    terminal.out(`${question}\n\n${formatResult(table, 'table')}\n`)
  }
  terminal.out(
    [
      `The report: ${reportPath(dataFolder, 'html')}`,
      'Open it in a browser; it needs no network.',
      '',
      'What to try next:',
      `  npx agent-warehouse status ${data}`,
      `  npx agent-warehouse query "from fct_user_day limit 5" ${data}`,
      `  npx agent-warehouse export csv ${data}`,
      `  any SQL tool on ${warehouse} (DuckDB, read-only)`,
      'To load your own data, see "Load your own data" in README.md.',
      '',
    ].join('\n'),
  )
}

/** The folder itself stays: it may be the mount point of a volume, or where the command was started. */
async function startAfresh(dataFolder: string): Promise<void> {
  const mark = join(dataFolder, MARK)
  const isDemo = (await readIfThere(mark)) !== undefined
  const present = await listIfThere(dataFolder)
  if (!isDemo && present.length > 0) {
    throw new UsageError(`${dataFolder} contains files that do not belong to a demo`, {
      hint: 'Name an empty folder with --data.',
    })
  }
  // the mark stays, so that the next demo replaces what is left if this one is killed meanwhile
  const old = present.filter(({ name }) => name !== MARK)
  for (const { name } of old) await rm(join(dataFolder, name), { recursive: true })
  await writeAtomic(mark, 'Each demo replaces this folder.\n')
}

export const emulateCommand = defineCommand({
  examples: {
    '$0 emulate': 'listen on port 8787 until Ctrl-C',
    '$0 emulate --users 10000 --rate 5': 'serve a large organisation with a strict rate limit',
    '$0 emulate --organisations 100': 'serve many organisations, each with its own keys',
  },
  options: {
    port: { ...number('port of the API host; 0 chooses a free one'), default: 8787 },
    'app-port': {
      ...number('port of the web application host, for readiness reports; 0 chooses a free one'),
      default: 0,
    },
    users: { ...number('number of users in the organisation'), default: 40 },
    organisations: {
      ...number('number of organisations; the keys of the second end with -2, and so on'),
      default: 1,
    },
    seed: {
      ...number('seed of the generated data; another seed gives another organisation'),
      default: 1,
    },
    from: textOr('2026-01-14', 'first day of the history'),
    rate: number('requests per second before it answers 429'),
    burst: { ...number('requests at once before it answers 429'), implies: 'rate' },
  },
  run: async (flags, terminal) => {
    const { port, appPort, users, organisations, seed, rate, burst } = flags
    const firstDay = parseDay(flags.from, '--from')
    const emulator = await startEmulator({
      ...{ port, appPort, users, organisations, seed, rate, burst, firstDay },
      remember: 0,
      now: terminal.now,
    })
    // listens before the text says that Ctrl-C ends it
    const isEnded = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    terminal.out(
      [
        `The stand-in platform listens on ${emulator.url}`,
        `Its web application, for readiness reports, listens on ${emulator.appUrl}`,
        ...Object.entries(emulator.keys).map(([role, key]) => `  key of the ${role}: ${key}`),
        ...(organisations === 1
          ? []
          : [`  keys of organisation n, up to ${organisations}, end with -n`]),
        'In another terminal:',
        `  AGENT_BASE_URL=${emulator.url} AGENT_APP_URL=${emulator.appUrl} AGENT_API_KEY=${emulator.keys.manager} npx agent-warehouse run`,
        'Press Ctrl-C to stop it.',
        '',
      ].join('\n'),
    )
    await isEnded
    await emulator.close()
    return ExitCode.complete
  },
})
