import type { Day } from '../core/days.ts'
import type { Interval } from '../store/ledger.ts'
import type { LandedInterval, ShrunkInterval } from './book.ts'
import type { FetchContext } from './context.ts'
import type { DayContent } from './day-content.ts'
import type { Resource } from './resources.ts'
import { isConfirmed, isGuarded, isShrunken, sizeOf, suspectOf, type Look } from './shrink.ts'

/** What the platform served of one day. */
export interface ServedDay {
  readonly day: Day
  readonly content: DayContent
  /** Rows, or users where a user can be met twice. */
  readonly rowCount: number
  /** See `sizeOf`. */
  readonly size: number
}

/**
 * Turns what was served into a version of the day. A settled day that came back
 * much smaller stays as it is, and is remembered as suspect, until a second look.
 *
 * @returns what to record; null where the day stays as it is, which is recorded.
 */
export async function landDay(
  context: FetchContext,
  resource: Resource,
  served: ServedDay,
): Promise<LandedInterval | null> {
  const { day, content, rowCount, size } = served
  const { digest, last: origin } = content
  const look = { digest, rowCount, at: origin.fetchedAt }
  const known = context.book.interval(resource.name, day)
  const doubted = isGuarded(known, look) ? await doubt(context, resource, known, look, size) : null
  if (doubted !== null && !isConfirmed(doubted.known.suspect, look, context.looks)) {
    await context.book.suspected(resource.name, doubted, suspectOf(doubted.known, look))
    return null
  }
  const result = await context.writer.land(resource.name, day, content)
  if (doubted !== null) context.book.confirmed(resource.name, doubted)
  return { day, origin, result, rowCount }
}

/** Why the look is not believed at first sight; null when it is. */
async function doubt(
  context: FetchContext,
  resource: Resource,
  known: Interval,
  look: Look,
  size: number,
): Promise<ShrunkInterval | null> {
  const sizeBefore = await landedSize(context, resource, known)
  return isShrunken(known, sizeBefore, look, size) ? { known, sizeBefore, size } : null
}

/** From the rows in the lake where they tell it; a file that cannot be read is counted by its rows. */
async function landedSize(
  context: FetchContext,
  resource: Resource,
  { day, file, rowCount }: Interval,
): Promise<number> {
  const count = rowCount ?? 0
  const { name, sizeField } = resource
  if (sizeField === undefined || file === null) return count
  const items = await context.writer.items(name, day, file)
  return items === null ? count : sizeOf(sizeField, items)
}
