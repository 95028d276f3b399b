import { UsageError } from '../lib/errors.ts'
import { verify } from '../pipeline/verify.ts'
import type { SampleChoice } from '../serve/verify/verify.ts'
import {
  configured,
  dataOptions,
  defineCommand,
  flag,
  reportOptions,
  number,
  type Flags,
} from './command.ts'
import { runJob } from './job.ts'
import {
  configuredNames,
  durationOf,
  organisationsOf,
  orgOption,
  paceOptions,
  rangeOf,
  rangeOptions,
} from './options.ts'
import { verificationAnswer } from './verify-text.ts'

const DEFAULT_DAYS = 7

const sampleOptions = {
  days: number(
    `number of days: the last one and randomly chosen ones (default: ${DEFAULT_DAYS}, or all days from --from to --to)`,
  ),
  all: flag('compare every day of history'),
}

export const verifyCommand = defineCommand({
  examples: [
    ['$0 verify', 'compare yesterday and six random days'],
    ['$0 verify --all', 'compare the whole history'],
    [
      '$0 verify --from 2026-02-01 --to 2026-02-28 --json',
      'compare a month, and list every difference',
    ],
  ],
  options: {
    ...dataOptions,
    ...rangeOptions,
    ...orgOption,
    ...paceOptions,
    ...reportOptions,
    ...sampleOptions,
  },
  run: async (flags, terminal) => {
    const choice = choiceOf(flags)
    const maxDurationMs = durationOf(flags.maxDuration, '--max-duration')
    const config = configured(flags, terminal)
    const only = organisationsOf(flags, configuredNames(config))
    const organisations = config.organisations(only)
    return runJob(
      { ...flags, command: 'verify', config, maxDurationMs, organisations },
      terminal,
      async (context) => {
        const { verification, ...outcome } = await verify(context, choice, only)
        return verification === null
          ? outcome
          : { ...outcome, report: verificationAnswer(verification) }
      },
    )
  },
})

/** @throws UsageError for an invalid date or number, and for --all with a choice of days. */
function choiceOf(flags: Flags<typeof rangeOptions & typeof sampleOptions>): SampleChoice {
  const within = rangeOf(flags)
  const { days } = flags
  const hasRange = within.first !== undefined || within.last !== undefined
  if (days !== undefined && (!Number.isInteger(days) || days < 1)) {
    throw new UsageError(`--days: ${days} is not a number of days`, {
      hint: 'Write a whole number of at least 1, for example --days 7.',
    })
  }
  if (flags.all && (hasRange || days !== undefined)) {
    throw new UsageError('--all means every day of history: leave out --days, --from and --to')
  }
  const count = days ?? (flags.all || hasRange ? undefined : DEFAULT_DAYS)
  return { within, ...(count === undefined ? {} : { count }) }
}
