import { addDays, eachDay, type Day, type DayRange } from '../lib/days.ts'
import { workDayOf, type WorkDay } from './calendar.ts'
import { createPeople, isMember, type Person } from './people.ts'
import { derive, draw } from './random.ts'

/** A made-up organisation: who is in it and on which days they work. */
export interface Organisation {
  readonly id: string
  readonly firstDay: Day
  /** Ordered by id. */
  readonly people: readonly Person[]
  /** The place of a user id in `people`. */
  readonly placeOf: ReadonlyMap<string, number>
}

export interface OrganisationOptions {
  readonly id: string
  readonly seed: number
  /** How many people are ever in it. */
  readonly users: number
  /** Whether all of them are there from the first day, and work on every day that has data. */
  readonly areSteady: boolean
  readonly firstDay: Day
}

export function createOrganisation(options: OrganisationOptions): Organisation {
  const people = createPeople(options.seed, options.users, options.areSteady)
  return {
    id: options.id,
    firstDay: options.firstDay,
    people,
    placeOf: new Map(people.map((person, place) => [person.id, place])),
  }
}

/** The days of a range that have data. */
export function openDays(organisation: Organisation, range: DayRange): WorkDay[] {
  return workDays(organisation, range).filter((workDay) => workDay.isOpen)
}

/**
 * Whether a person has a row on a day. Cheap and pure, so that the distinct
 * users of any window can be counted without making their rows.
 */
export function isActive(person: Person, workDay: WorkDay): boolean {
  const { offset } = workDay
  if (!workDay.isOpen || !isMember(person, offset)) return false
  const pace = workDay.isRest ? person.team.restPace : workDay.pace
  const isPresent = draw(derive(person.key, offset), ACTIVE) < person.presence * pace
  return isPresent && !isOnLeave(person, offset)
}

/** The people with a row on a day, in order of id. */
export function activePeople(organisation: Organisation, workDay: WorkDay): Person[] {
  return organisation.people.filter((person) => isActive(person, workDay))
}

/** Distinct users of the trailing 7 and 30 days, for each day of a range. */
export interface TrailingCounts {
  readonly weekly: number
  readonly monthly: number
}

/** One sweep over the range and the 29 days before it: people × days, whatever the window. */
export function trailingCounts(
  organisation: Organisation,
  range: DayRange,
): ReadonlyMap<Day, TrailingCounts> {
  const counts = new Map<Day, TrailingCounts>()
  const lastActive = new Int32Array(organisation.people.length).fill(LONG_AGO)
  const sweep = { first: addDays(range.first, -29), last: range.last }
  for (const workDay of workDays(organisation, sweep)) {
    for (const [place, person] of organisation.people.entries()) {
      if (isActive(person, workDay)) lastActive[place] = workDay.offset
    }
    if (workDay.day < range.first) continue
    counts.set(workDay.day, {
      weekly: countFrom(lastActive, workDay.offset - 6),
      monthly: countFrom(lastActive, workDay.offset - 29),
    })
  }
  return counts
}

const ACTIVE = 1
const LEAVE = 2
const LONG_AGO = -1_000_000

function workDays(organisation: Organisation, range: DayRange): WorkDay[] {
  return eachDay(range).map((day) => workDayOf(organisation.firstDay, day))
}

function isOnLeave(person: Person, offset: number): boolean {
  if (!person.takesLeave) return false
  const week = Math.floor(offset / 7)
  return draw(derive(person.key, -week - 1), LEAVE) < 0.05
}

function countFrom(lastActive: Int32Array, offset: number): number {
  let count = 0
  for (const last of lastActive) if (last >= offset) count += 1
  return count
}
