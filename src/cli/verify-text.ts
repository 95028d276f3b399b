import { addDays, isDay, type Day, type DayRange } from '../lib/days.ts'
import { oneLine } from '../lib/text.ts'
import { counted, digits } from '../observe/words.ts'
import type { Difference } from '../serve/verify/compare.ts'
import type { DamagedFile, NotHeld } from '../serve/verify/evidence.ts'
import type { LeftOut } from '../serve/verify/sample.ts'
import { isEqual, type Verification } from '../serve/verify/verify.ts'

const LISTED = 50

/** What came of a verification, for people: the verdict, what differs, and what mends it. */
export function verificationText(verification: Verification): string {
  const { differences, files, leftOut } = verification
  const commands = mendingCommands(verification)
  const lines = [
    verdictOf(verification),
    ...listed(files.damaged, damageLine),
    ...listed(differences, differenceLine),
    ...notCompared(leftOut),
    ...unheldLines(verification.notHeld),
    ...(commands.length === 0 ? [] : ['What fixes it:', ...commands.map((each) => `  ${each}`)]),
  ]
  return `${lines.join('\n')}\n`
}

/** The same for machines, whole. */
export function verificationJson(verification: Verification): object {
  const { history, sampled, days, tables, rows, values, files } = verification
  return {
    is_equal: isEqual(verification),
    history_days: history,
    sampled_days: sampled,
    compared: { days, tables, rows, values, files: files.files },
    differences: verification.differences.map(ofDay),
    damaged_files: files.damaged.map(ofDay),
    not_compared: verification.leftOut.map(ofDay),
    not_held: verification.notHeld.map(ofDay),
    mend: mendingCommands(verification),
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
  const scope = `${which}, ${counted(tables, 'table')}, ${counted(rows, 'row')}, ${counted(values, 'value')}; ${counted(files.files, 'raw file')} proven by SHA-256`
  if (isEqual(verification)) {
    const { notHeld } = verification
    const but = notHeld.length === 0 ? '' : ', but for numbers that it cannot hold'
    return `Equal${but}: the warehouse is what the platform serves${isAll ? ', the whole history' : ''} (${scope}).`
  }
  return `Different: ${whatDiffers(verification)} (compared: ${scope}).`
}

function whatDiffers({ differences, files }: Verification): string {
  const number = (kind: Difference['kind']): number =>
    differences.filter((difference) => difference.kind === kind).length
  return [
    [number('value'), 'value', 'otherwise than the platform serves it'] as const,
    [number('missing'), 'row', 'missing in the warehouse'] as const,
    [number('extra'), 'row', 'that the platform does not serve'] as const,
    [files.damaged.length, 'raw file', 'damaged'] as const,
  ]
    .filter(([count]) => count > 0)
    .map(([count, noun, what]) => `${counted(count, noun)} ${what}`)
    .join(', ')
}

function differenceLine(difference: Difference): string {
  const { table, day, orgId, key, column, warehouse, platform, kind } = difference
  const names = Object.entries(key).map(([name, value]) => `${name}=${value ?? 'NULL'}`)
  const where = [table, day, orgId, ...names].join(' ')
  if (kind === 'missing') return `${where}: the warehouse has no such row`
  if (kind === 'extra') return `${where}: the platform serves no such row`
  return `${where}: ${column ?? ''} is ${warehouse ?? 'NULL'} in the warehouse, ${platform ?? 'NULL'} at the platform`
}

function damageLine({ path, expected, found }: DamagedFile): string {
  if (found === null) return `${path} is not there`
  return `${path} is damaged: its SHA-256 is ${found}, not ${expected ?? 'known'}`
}

/** Days of a resource that are left out for one reason are one line. */
function notCompared(leftOut: readonly LeftOut[]): string[] {
  const groups = grouped(leftOut, ({ orgId, why, error, resource }) => [
    orgId,
    why,
    error,
    resource,
  ])
  return listed(groups, ([{ orgId, resource, why, error }, days]) => {
    const reason =
      why === 'absent'
        ? 'the warehouse does not have it'
        : `the platform did not give it${error === null ? '' : `: ${error}`}`
    return `not compared: ${resource} ${days} of ${orgId}: ${reason}`
  })
}

/** Days of a field are one line. */
function unheldLines(numbers: readonly NotHeld[]): string[] {
  const groups = grouped(numbers, ({ orgId, resource, path, kind }) => [
    orgId,
    resource,
    path,
    kind,
  ])
  return listed(groups, ([{ orgId, resource, path, kind }, days]) => {
    const how = kind === 'rounded' ? 'rounded to six digits' : 'NULL'
    return `${path} of ${resource} ${days} of ${orgId}: served numbers that the warehouse has as ${how}`
  })
}

/** The first of each group of items with the same key, and the days of the group in words. */
function grouped<T extends { readonly day: Day }>(
  items: readonly T[],
  keyOf: (item: T) => readonly (string | null)[],
): (readonly [T, string])[] {
  const groups = new Map<string, [T, ...T[]]>()
  for (const item of items) {
    const key = JSON.stringify(keyOf(item))
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return [...groups.values()].map((group) => {
    const ranges = rangesOf(group.map(({ day }) => day))
    return [group[0], ranges.map(rangeText).join(', ')]
  })
}

/** Asking again for the days that differ, and building from what comes. */
function mendingCommands({ differences, files }: Verification): string[] {
  const texts = [...differences, ...files.damaged].map(({ day }) => day)
  const ranges = rangesOf([...new Set(texts)].filter(isDay).sort())
  if (ranges.length === 0) return []
  return [
    ...ranges.map(
      ({ first, last }) => `agent-warehouse sync --refetch --from ${first} --to ${last}`,
    ),
    'agent-warehouse build --full-refresh',
  ]
}

/** Sorted days as the fewest ranges. */
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

function rangeText({ first, last }: DayRange): string {
  return first === last ? first : `${first} to ${last}`
}

function listed<T>(items: readonly T[], line: (item: T) => string): string[] {
  const shown = items.slice(0, LISTED).map((item) => `  ${oneLine(line(item))}`)
  const more = items.length - shown.length
  return more === 0 ? shown : [...shown, `  and ${digits(more)} more: --json has them all`]
}
