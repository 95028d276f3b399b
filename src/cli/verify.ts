import { UsageError } from '../lib/errors.ts'
import { verify } from '../pipeline/verify.ts'
import {
  isEqual,
  type LeftOut,
  type SampleChoice,
  type Verification,
} from '../serve/verify/verify.ts'
import {
  dataCommand,
  flag,
  number,
  reportOptions,
  textOr,
  type Output,
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
import { addDays, isDay, type Day, type DayRange } from '../lib/days.ts'
import { grouped } from '../lib/grouped.ts'
import { checkWhole } from '../lib/numbers.ts'
import { oneLine, counted, digits } from '../lib/text.ts'
import { firstLines } from '../observe/words.ts'
import type { DamagedFile, Difference, NotStored } from '../serve/verify/compare.ts'

const DEFAULT_DAYS = 7

const sampleOptions = {
  days: number(
    `number of days: the last one and randomly chosen ones (default: ${DEFAULT_DAYS}, or all days from --from to --to)`,
  ),
  all: flag('compare every day of history'),
}

export const verifyCommand = dataCommand({
  examples: {
    '$0 verify': 'compare the last day and six random days',
    '$0 verify --all': 'compare the whole history',
    '$0 verify --from 2026-02-01 --to 2026-02-28 --json':
      'compare a month, and list every difference',
  },
  options: {
    ...rangeOptions,
    ...orgOption,
    ...paceOptions,
    'max-duration': textOr(
      '5h',
      'send no request after this time, such as 90s, 20m or 5h; compare the days fetched so far',
    ),
    ...reportOptions,
    ...sampleOptions,
  },
  run: (flags, terminal) => {
    const choice = choiceOf(flags)
    const maxDurationMs = durationOf(flags.maxDuration, '--max-duration')
    return (config) => {
      const only = organisationsOf(flags, configuredNames(config))
      const organisations = config.organisations(only)
      const job = { ...flags, command: 'verify', config, maxDurationMs, organisations }
      return runJob(job, terminal, async (context) => {
        const sample = { ...choice, organisations: only }
        const { verification, ...outcome } = await verify(context, sample)
        if (verification === null) return outcome
        return { ...outcome, report: verificationOutput(verification) }
      })
    }
  },
})

/** @throws UsageError for an invalid date or number, and for --all with a choice of days. */
function choiceOf(flags: Flags<typeof rangeOptions & typeof sampleOptions>): SampleChoice {
  const within = rangeOf(flags)
  const days = flags.days === undefined ? undefined : checkWhole('--days', flags.days, 1)
  const hasRange = within.first !== undefined || within.last !== undefined
  if (flags.all && (hasRange || days !== undefined)) {
    throw new UsageError('--all means every day of history: leave out --days, --from and --to')
  }
  const count = days ?? (flags.all || hasRange ? undefined : DEFAULT_DAYS)
  return { within, ...(count === undefined ? {} : { count }) }
}

const LISTED = 50

/** The result of a verification: the verdict, the differences, and the commands that fix them. */
function verificationOutput(verification: Verification): Output & { json: object } {
  const { history, sampled, days, tables, rows, values, files } = verification
  const { differences, leftOut, notStored } = verification
  const commands = fixingCommands(verification)
  const lines = [
    verdictOf(verification),
    ...listed(files.damaged.map(damageLine)),
    ...listed(differences.map(differenceLine)),
    ...listed(leftOutLines(leftOut)),
    ...listed(notStoredLines(notStored)),
    ...(commands.length === 0 ? [] : ['To fix this:', ...commands.map((each) => `  ${each}`)]),
  ]
  return {
    json: {
      is_equal: isEqual(verification),
      history_days: history,
      sampled_days: sampled,
      compared: { days, tables, rows, values, files: files.files },
      differences: differences.map(ofDay),
      damaged_files: files.damaged.map(ofDay),
      not_compared: leftOut.map(ofDay),
      not_held: notStored.map(ofDay),
      fix: commands,
    },
    text: `${lines.join('\n')}\n`,
  }
}

function ofDay<T extends { readonly orgId: string; readonly day: string }>(each: T): object {
  const { orgId, day, ...others } = each
  return { org_id: orgId, activity_date: day, ...others }
}

function verdictOf(verification: Verification): string {
  const { history, days, tables, rows, values, files } = verification
  if (days.length === 0) return 'Nothing was compared.'
  const isAll = days.length === history
  const which = `${isAll ? 'all ' : ''}${counted(days.length, 'day')}${isAll ? '' : ` of ${digits(history)}`}`
  const scope = `${which}, ${counted(tables, 'table')}, ${counted(rows, 'row')}, ${counted(values, 'value')}; ${counted(files.files, 'raw file')} verified by SHA-256`
  if (isEqual(verification)) {
    const { leftOut, notStored } = verification
    const but = notStored.length === 0 ? '' : ', except for values that it cannot store'
    const whole = isAll && leftOut.length === 0 ? ', the whole history' : ''
    const compared = leftOut.length === 0 ? '' : ', as far as days were compared'
    return `Equal${but}${compared}: the warehouse has what the platform serves${whole} (${scope}).`
  }
  return `Different: ${whatDiffers(verification)} (compared: ${scope}).`
}

function whatDiffers({ differences, files }: Verification): string {
  const number = (kind: Difference['kind']): number =>
    differences.filter((difference) => difference.kind === kind).length
  const parts: readonly (readonly [number, string, string])[] = [
    [number('value'), 'value', 'different on the platform'],
    [number('missing'), 'row', 'missing in the warehouse'],
    [number('extra'), 'row', 'that the platform does not serve'],
    [files.damaged.length, 'raw file', 'damaged'],
  ]
  const present = parts.filter(([count]) => count > 0)
  return present.map(([count, noun, what]) => `${counted(count, noun)} ${what}`).join(', ')
}

function differenceLine(difference: Difference): string {
  const { table, day, orgId, key, column, warehouse, platform, kind } = difference
  const names = Object.entries(key).map(([name, value]) => `${name}=${value ?? 'NULL'}`)
  const where = [table, day, orgId, ...names].join(' ')
  if (kind === 'missing') return `${where}: the warehouse has no such row`
  if (kind === 'extra') return `${where}: the platform serves no such row`
  return `${where}: ${column ?? ''} is ${warehouse ?? 'NULL'} in the warehouse, ${platform ?? 'NULL'} on the platform`
}

function damageLine({ orgId, resource, day, path, reason }: DamagedFile): string {
  return `${resource} ${day} of ${orgId}: ${path}: ${reason}`
}

function leftOutLines(leftOut: readonly LeftOut[]): string[] {
  return byDays(leftOut, ({ orgId, resource, why, error }, days) => {
    const noAnswer = `the platform did not answer${error === null ? '' : `: ${error}`}`
    const reason = why === 'absent' ? 'not in the warehouse' : noAnswer
    return `not compared: ${resource} ${days} of ${orgId}: ${reason}`
  })
}

function notStoredLines(numbers: readonly NotStored[]): string[] {
  return byDays(numbers, ({ orgId, resource, path, kind }, days) => {
    const how = kind === 'rounded' ? 'rounded to six digits' : 'NULL'
    return `${path} of ${resource} ${days} of ${orgId}: served values that the warehouse has as ${how}`
  })
}

/** One line for all items that differ only in their days. */
function byDays<T extends { readonly day: Day }>(
  items: readonly T[],
  lineOf: (item: T, days: string) => string,
): string[] {
  return [...grouped(items, (item) => lineOf(item, '')).values()].map((group) => {
    const ranges = rangesOf(group.map(({ day }) => day)).map((range) =>
      range.first === range.last ? range.first : `${range.first} to ${range.last}`,
    )
    return lineOf(group[0], ranges.join(', '))
  })
}

/** Fetches the differing days again, and builds everything. */
function fixingCommands({ differences, files }: Verification): string[] {
  const days = new Set([...differences, ...files.damaged].map(({ day }) => day))
  const ranges = rangesOf([...days].filter(isDay).sort())
  if (ranges.length === 0) return []
  const asking = ranges.map(
    ({ first, last }) => `agent-warehouse sync --refetch --from ${first} --to ${last}`,
  )
  return [...asking, 'agent-warehouse build --full-refresh']
}

function rangesOf(days: readonly Day[]): DayRange[] {
  const ranges: DayRange[] = []
  for (const day of days) {
    const open = ranges.at(-1)
    if (open !== undefined && addDays(open.last, 1) === day) {
      ranges[ranges.length - 1] = { first: open.first, last: day }
    } else ranges.push({ first: day, last: day })
  }
  return ranges
}

function listed(lines: readonly string[]): readonly string[] {
  const shown = lines.map((line) => `  ${oneLine(line)}`)
  return firstLines(shown, LISTED, (more) => `  and ${digits(more)} more: --json has them all`)
}
