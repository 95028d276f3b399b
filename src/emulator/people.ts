import { FIRST_MODELS, FIRST_NAMES, LAST_NAMES, TEAMS } from './catalogue.ts'
import type { Model, Team } from './catalogue.ts'
import { EMAIL_CHANGE_OFFSET } from './calendar.ts'
import { quoteAscii } from './json.ts'
import { createPicker, derive, draw, entry, mix } from './random.ts'

/** An instant that no history reaches, in days since its first day. */
const NEVER = 1_000_000_000

/** Someone of the organisation, with the habits that never change. */
export interface Person {
  /** Opaque, unique; the cursor of `/users`. */
  readonly id: string
  /** The key of every draw about this person. */
  readonly key: number
  readonly team: Team
  readonly favourite: Model
  /** Chance of a row on a plain working day. Above 1: works whenever it is possible. */
  readonly presence: number
  readonly takesLeave: boolean
  readonly intensity: number
  readonly usesMcp: boolean
  /** Offsets of days: member from `joins`, away from `leaves` to before `returns`. */
  readonly joins: number
  readonly leaves: number
  readonly returns: number
  /** JSON text of the e-mail address or `null`, before and from `renamedOn`. */
  readonly emailJson: string
  readonly newEmailJson: string
  readonly renamedOn: number
}

const Draw = {
  team: 1,
  favourite: 2,
  presence: 3,
  intensity: 4,
  usesMcp: 5,
  founder: 6,
  joins: 7,
  leaver: 8,
  leaves: 9,
  returner: 10,
  returns: 11,
  email: 12,
  renamed: 13,
} as const

type Cast = Partial<Omit<Person, 'id' | 'key'>>

/** Who is there from the first day, and works on every day on which work is possible. */
const STEADY: Cast = { presence: 100, takesLeave: false, joins: 0, leaves: NEVER }

/** The people that a small organisation too must have, by order of birth. */
const CAST: readonly Cast[] = [
  { ...STEADY, team: entry(TEAMS, 0), usesMcp: true },
  {
    team: entry(TEAMS, 1),
    presence: 0.95,
    joins: 0,
    leaves: NEVER,
    renamedOn: EMAIL_CHANGE_OFFSET,
  },
  { team: entry(TEAMS, 5), presence: 0.95, takesLeave: false, joins: 0, leaves: NEVER },
  { joins: 0, leaves: 12, returns: 34 },
  { joins: 8, leaves: NEVER },
  { joins: 0, leaves: 21, returns: NEVER },
]

/** Everyone who is ever in the organisation, ordered by id. A pure function of its arguments. */
export function createPeople(seed: number, count: number, areSteady: boolean): readonly Person[] {
  const people = Array.from({ length: count }, (_, index) => ({
    ...createPerson(seed, index),
    ...(areSteady ? STEADY : {}),
  }))
  return people.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Whether a person is in the organisation on the day of that offset. */
export function isMember(person: Person, offset: number): boolean {
  return offset >= person.joins && (offset < person.leaves || offset >= person.returns)
}

/** JSON text of a person's e-mail address on a day. */
export function emailJsonOn(person: Person, offset: number): string {
  return offset < person.renamedOn ? person.emailJson : person.newEmailJson
}

function createPerson(seed: number, index: number): Person {
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
    renamedOn: draw(key, Draw.renamed) < 0.02 ? EMAIL_CHANGE_OFFSET + (index % 60) : NEVER,
    ...cast,
  }
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

function emailsOf(index: number, isAnonymous: boolean): Pick<Person, 'emailJson' | 'newEmailJson'> {
  if (isAnonymous) return { emailJson: 'null', newEmailJson: 'null' }
  const first = entry(FIRST_NAMES, index % FIRST_NAMES.length)
  const last = entry(LAST_NAMES, index % LAST_NAMES.length)
  const round = Math.floor(index / (FIRST_NAMES.length * LAST_NAMES.length))
  const suffix = round === 0 ? '' : String(round + 1)
  return {
    emailJson: quoteAscii(`${first}.${last}${suffix}@acme.example`),
    newEmailJson: quoteAscii(`${first}.${last}-byron${suffix}@acme.example`),
  }
}

function hex(bits: number): string {
  return bits.toString(16).padStart(8, '0')
}
