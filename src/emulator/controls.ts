import { MS_PER_DAY, startOf } from '../lib/days.ts'
import { emailJsonOn } from './people.ts'
import type { Organisation } from './organisation.ts'
import { badRequest } from './problems.ts'
import { draw, entry } from './random.ts'
import { wholeOf } from './queries.ts'
import { settingsOf } from './settings.ts'

/** The first revision is this long before the first day of the analytics. */
const BEFORE_HISTORY = 45 * MS_PER_DAY
const BETWEEN_REVISIONS = 4 * MS_PER_DAY
const DEFAULT_LIMIT = 20
const LARGEST_LIMIT = 100
/** A page has no more than this, whatever is asked. */
const PAGE = 25

/**
 * The history of the enterprise controls, newest revision first; it gains one
 * every four days or so.
 * @throws Refusal 400 for a limit out of 1 to 100, or an unknown cursor.
 */
export function controlsAnswer(
  organisation: Organisation,
  now: number,
  query: URLSearchParams,
): object {
  const limit = wholeOf(query, 'limit', 1, LARGEST_LIMIT) ?? DEFAULT_LIMIT
  const newest = newestRevision(organisation, now)
  const from = firstOf(query, newest)
  const size = Math.max(0, Math.min(limit, PAGE, from))
  const changes = Array.from({ length: size }, (_, index) => changeOf(organisation, from - index))
  const hasMore = from - size > 0
  return {
    changes,
    pagination: { hasMore, nextCursor: hasMore ? `after_${from - size + 1}` : '' },
  }
}

/** The highest revision on a page. */
function firstOf(query: URLSearchParams, newest: number): number {
  const cursor = query.get('cursor')
  if (cursor === null) return newest
  const revision = Number(/^after_(\d{1,9})$/.exec(cursor)?.[1] ?? 0)
  if (revision < 1 || revision > newest) throw badRequest(`cursor '${cursor}' is unknown`)
  return revision - 1
}

function newestRevision(organisation: Organisation, now: number): number {
  const begins = startOf(organisation.firstDay) - BEFORE_HISTORY
  const most = Math.max(0, Math.floor((now - begins) / BETWEEN_REVISIONS) + 1)
  return most > 0 && updatedAt(organisation, most) > now ? most - 1 : most
}

function changeOf(organisation: Organisation, revision: number): object {
  return {
    revision,
    settings: settingsOf(revision),
    user: actorOf(organisation, revision),
    updatedAt: new Date(updatedAt(organisation, revision)).toISOString(),
  }
}

function updatedAt(organisation: Organisation, revision: number): number {
  const begins = startOf(organisation.firstDay) - BEFORE_HISTORY
  const late = Math.floor(draw(revision, 1) * 3 * MS_PER_DAY)
  return begins + (revision - 1) * BETWEEN_REVISIONS + late
}

/** One of the first three people with an e-mail address. */
function actorOf(organisation: Organisation, revision: number): object {
  const people = organisation.people.filter((person) => person.emailJson !== 'null')
  if (people.length === 0) return { id: 'user_admin', email: 'admin@acme.example', name: 'Admin' }
  const person = entry(people, revision % Math.min(3, people.length))
  const email = String(JSON.parse(emailJsonOn(person, 0)))
  const name = (email.split('@')[0] ?? '').split('.').map(capital).join(' ')
  return { id: person.id, email, name }
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
