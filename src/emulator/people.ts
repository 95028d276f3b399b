import { addDays, daysBetween, eachDay, type Day, type DayRange } from '../lib/days.ts'
import { OFFSETS, workDayOf, type WorkDay } from './calendar.ts'
import { FIRST_MODELS, FIRST_NAMES, LAST_NAMES, TEAMS, type Model, type Team } from './catalogue.ts'
import { createPicker, derive, draw, entry, mix } from './random.ts'

/** A number of days that no history reaches. */
const NEVER = 1_000_000_000

/** A person with constant habits. */
export interface Person {
  /** Opaque, unique; the cursor of `/users`. */
  readonly id: string
  /** The key of every random draw for this person. */
  readonly key: number
  readonly team: Team
  readonly favourite: Model
  /** Chance of a row on a normal working day. Above 1: works whenever possible. */
  readonly presence: number
  readonly takesLeave: boolean
  readonly intensity: number
  readonly usesMcp: boolean
  /** Offsets of days: member from `joins`, away from `leaves` to before `returns`. */
  readonly joins: number
  readonly leaves: number
  readonly returns: number
  /** The e-mail address, before and from `renamedOn`; null if the platform knows none. */
  readonly email: string | null
  readonly newEmail: string | null
  readonly renamedOn: number
  /** What the tokens of a day are multiplied by, by its offset; of other days 1. */
  readonly factors: ReadonlyMap<number, number>
}

/** A day on which the tokens and credits of one person, or of everyone, are multiplied. */
export interface PlantedAnomaly {
  readonly day: Day
  /** @default everyone; an id that the organisation does not have plants nothing */
  readonly userId?: string
  /** Sessions, messages and tool calls stay as they are, and days off stay without a row. */
  readonly factor: number
}

/** A made-up organisation: who is in it and on which days they work. */
export interface Organisation {
  readonly id: string
  readonly firstDay: Day
  /** Everyone who is ever in it, ordered by id. */
  readonly people: readonly Person[]
  /** The place of a user id in `people`. */
  readonly placeOf: ReadonlyMap<string, number>
}

export interface OrganisationOptions {
  readonly id: string
  readonly seed: number
  /** How many people are ever in it. */
  readonly users: number
  /** Whether everyone joins on the first day, and works on every day with data. */
  readonly areSteady: boolean
  readonly firstDay: Day
  readonly anomalies: readonly PlantedAnomaly[]
}

export function createOrganisation(options: OrganisationOptions): Organisation {
  const { id, seed, users, areSteady, firstDay } = options
  const people = Array.from({ length: users }, (_, index) => {
    const person = createPerson(seed, index)
    const factors = factorsOf(person.id, options)
    return { ...person, ...(areSteady ? STEADY : {}), factors }
  }).sort((a, b) => (a.id < b.id ? -1 : 1))
  return {
    id,
    firstDay,
    people,
    placeOf: new Map(people.map((person, place) => [person.id, place])),
  }
}

// prettier-ignore
const Draw = {
  team: 1, favourite: 2, presence: 3, intensity: 4, usesMcp: 5, founder: 6, joins: 7, leaver: 8,
  leaves: 9, returner: 10, returns: 11, email: 12, renamed: 13,
} as const

type Cast = Partial<Omit<Person, 'id' | 'key' | 'factors'>>

/** Someone who joins on the first day and works whenever possible. */
const STEADY: Cast = { presence: 100, takesLeave: false, joins: 0, leaves: NEVER }

/** The first people, whom even a small organisation must have. */
const CAST: readonly Cast[] = [
  { ...STEADY, team: entry(TEAMS, 0), usesMcp: true },
  {
    team: entry(TEAMS, 1),
    presence: 0.95,
    joins: 0,
    leaves: NEVER,
    renamedOn: OFFSETS.emailChange,
  },
  { ...STEADY, team: entry(TEAMS, 5), presence: 0.95 },
  { joins: 0, leaves: 12, returns: 34 },
  { joins: 8, leaves: NEVER },
  { joins: 0, leaves: 21, returns: NEVER },
]

function createPerson(seed: number, index: number): Omit<Person, 'factors'> {
  const key = derive(seed, index)
  const cast = CAST[index] ?? {}
  const team = cast.team ?? entry(TEAMS, pickTeam(draw(key, Draw.team)))
  const isRobot = team.name === 'automation'
  return {
    id: `user_${hex(mix(mix(~seed) ^ index))}${hex(key)}`,
    key,
    team,
    favourite: entry(FIRST_MODELS, pickFavourite(draw(key, Draw.favourite))),
    presence: isRobot ? 0.95 : 0.35 + 0.6 * draw(key, Draw.presence),
    takesLeave: !isRobot,
    intensity: 0.3 + 1.9 * draw(key, Draw.intensity) ** 2,
    usesMcp: draw(key, Draw.usesMcp) < 0.45,
    ...membershipOf(key),
    ...emailsOf(index, isRobot || (index > 1 && draw(key, Draw.email) < 0.03)),
    renamedOn: draw(key, Draw.renamed) < 0.02 ? OFFSETS.emailChange + (index % 60) : NEVER,
    ...cast,
  }
}

function factorsOf(id: string, { anomalies, firstDay }: OrganisationOptions): Person['factors'] {
  const own = anomalies.filter(({ userId = id }) => userId === id)
  const factors = new Map<number, number>()
  for (const { day, factor } of own) {
    const offset = daysBetween(firstDay, day)
    factors.set(offset, (factors.get(offset) ?? 1) * factor)
  }
  return factors
}

function membershipOf(key: number): Pick<Person, 'joins' | 'leaves' | 'returns'> {
  const joins = draw(key, Draw.founder) < 0.55 ? 0 : Math.ceil(240 * draw(key, Draw.joins) ** 2)
  if (draw(key, Draw.leaver) >= 0.12) return { joins, leaves: NEVER, returns: NEVER }
  const leaves = joins + 20 + Math.floor(120 * draw(key, Draw.leaves))
  const isBack = draw(key, Draw.returner) < 0.4
  const returns = isBack ? leaves + 14 + Math.floor(45 * draw(key, Draw.returns)) : NEVER
  return { joins, leaves, returns }
}

const pickTeam = createPicker(TEAMS.map((team) => team.size))
/** By weights of FIRST_MODELS. */
const pickFavourite = createPicker([40, 15, 15, 20, 10])

function emailsOf(index: number, isAnonymous: boolean): Pick<Person, 'email' | 'newEmail'> {
  if (isAnonymous) return { email: null, newEmail: null }
  const first = entry(FIRST_NAMES, index % FIRST_NAMES.length)
  const last = entry(LAST_NAMES, index % LAST_NAMES.length)
  const round = Math.floor(index / (FIRST_NAMES.length * LAST_NAMES.length))
  const host = `${round === 0 ? '' : round + 1}@acme.example`
  return { email: `${first}.${last}${host}`, newEmail: `${first}.${last}-byron${host}` }
}

function hex(bits: number): string {
  return bits.toString(16).padStart(8, '0')
}

/** A person's e-mail address on a day. */
export function emailOn(person: Person, offset: number): string | null {
  return offset < person.renamedOn ? person.email : person.newEmail
}

export function openDays(organisation: Organisation, range: DayRange): WorkDay[] {
  return workDays(organisation, range).filter((workDay) => workDay.isOpen)
}

function workDays({ firstDay }: Organisation, range: DayRange): WorkDay[] {
  return eachDay(range).map((day) => workDayOf(firstDay, day))
}

/** Streams of `draw` by person and day or week; user-day.ts has those from 3 on. */
const ACTIVE = 1
const LEAVE = 2

/**
 * Whether a person has a row on a day. Cheap and pure, so that the distinct
 * users of any window can be counted without making their rows.
 */
export function isActive(person: Person, workDay: WorkDay): boolean {
  const { offset } = workDay
  const { joins, leaves, returns } = person
  const isMember = offset >= joins && (offset < leaves || offset >= returns)
  if (!workDay.isOpen || !isMember) return false
  const pace = workDay.isRest ? person.team.restPace : workDay.pace
  const isPresent = draw(derive(person.key, offset), ACTIVE) < person.presence * pace
  return isPresent && !isOnLeave(person, offset)
}

function isOnLeave({ takesLeave, key }: Person, offset: number): boolean {
  const week = Math.floor(offset / 7)
  return takesLeave && draw(derive(key, -week - 1), LEAVE) < 0.05
}

/** The people with a row on a day, in order of id. */
export function activePeople(organisation: Organisation, workDay: WorkDay): Person[] {
  return organisation.people.filter((person) => isActive(person, workDay))
}

/** The number of distinct users in the `length` days that end with `last`. */
export function usersWithin(organisation: Organisation, last: Day, length: number): number {
  const days = workDays(organisation, { first: addDays(last, 1 - length), last }).reverse()
  return organisation.people.filter((person) => days.some((day) => isActive(person, day))).length
}
