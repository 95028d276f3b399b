// What a case serves, as `expect.mjs` reads it: the last version of each day.
import { readFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { groupBy, measure, sum, unique } from './reading.mjs'

export const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), process.argv[2])
export const UNATTRIBUTED = '(unattributed)'
export const SPENDS = ['billable_tokens', 'input_tokens', 'output_tokens']

/** What is not analytics, and the name of the list of its rows. */
const ENTITIES = {
  enterprise_controls: 'changes',
  sessions: 'sessions',
  hook_events: 'events',
  usage_limits: 'limits',
  readiness_reports: 'reports',
}
export const answers = await readAnswers()
/** Every known revision of the enterprise controls. */
export const controls = await readEntity('enterprise_controls')
/** By identifier, as last fetched. */
export const sessions = lastById(await readEntity('sessions'), ({ sessionId }) => sessionId)
export const hookEvents = lastById(await readEntity('hook_events'), ({ event_id }) => event_id)
/** As fetched in each night that asked for them. */
export const usageLimits = await readEntity('usage_limits')
export const readinessReports = lastById(
  await readEntity('readiness_reports'),
  ({ reportId }) => reportId,
)
export const org_id = answers[0].meta.org_id
export const seeds = {
  teams: await seed('teams'),
  licences: await seed('licences'),
  events: await seed('events'),
}
export const today = latest()
export const days = unique(Object.values(today).flatMap((rows) => rows.map(({ date }) => date)))

export function key(activity_date) {
  return { org_id, activity_date }
}

/** Every response, by when it was fetched; numbers as the text that was sent. */
async function readAnswers() {
  const found = []
  for (const fetched of (await readdir(join(folder, 'input'))).sort()) {
    for (const file of (await readdir(join(folder, 'input', fetched))).sort()) {
      if (file.replace('.json', '') in ENTITIES) continue
      const text = await readFile(join(folder, 'input', fetched, file), 'utf8')
      const number = /([:[,]\s*)(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=\s*[,}\]])/g
      const { data, meta } = JSON.parse(text.replace(number, '$1"$2"'))
      found.push({ fetched, resource: file.replace('.json', ''), data, meta })
    }
  }
  return found
}

/** The rows of an entity in the nights that have some, the first night first. */
async function readEntity(name) {
  const found = []
  for (const fetched of (await readdir(join(folder, 'input'))).sort()) {
    if (!(await readdir(join(folder, 'input', fetched))).includes(`${name}.json`)) continue
    const text = await readFile(join(folder, 'input', fetched, `${name}.json`), 'utf8')
    found.push(...JSON.parse(text)[ENTITIES[name]].map((row) => ({ ...row, fetched })))
  }
  return found
}

function lastById(rows, idOf) {
  return [...new Map(rows.map((row) => [idOf(row), row])).values()]
}

async function seed(name) {
  const [header, ...lines] = (await readFile(join(folder, 'seeds', `${name}.csv`), 'utf8'))
    .trim()
    .split('\n')
  return lines.map((line) => {
    const cells = line.split(',').map((cell) => (cell === '' ? null : cell))
    return Object.fromEntries(header.split(',').map((column, index) => [column, cells[index]]))
  })
}

/** The rows of each resource in the last version of each day. */
function latest() {
  const byResource = groupBy(answers, ({ resource }) => resource)
  return Object.fromEntries(
    [...byResource].map(([resource, versions]) => {
      const rows = versions.flatMap(({ data, meta }, index) => {
        const later = versions.slice(index + 1).map((version) => version.meta)
        const isStale = (day) => later.some((l) => l.start_date <= day && day <= l.end_date)
        return data.filter(({ date }) => meta.start_date <= date && !isStale(date))
      })
      return [resource, rows]
    }),
  )
}

export function rowsOf(resource, day) {
  return today[resource].filter(({ date }) => date === day)
}

export function counts(row, names) {
  return Object.fromEntries(names.map((name) => [name, measure(name, row?.[name])]))
}

/** Adds up what has the same members. */
export function added(rows, members, measures) {
  const groups = groupBy(rows, (row) => JSON.stringify(members.map((name) => row[name])))
  return [...groups.values()].map((group) => ({
    ...Object.fromEntries(members.map((name) => [name, group[0][name]])),
    ...Object.fromEntries(measures.map((name) => [name, sum(group.map((row) => row[name]))])),
  }))
}

export function calendar() {
  const [first, last] = [days[0], days.at(-1)].map((day) => Date.parse(day))
  return Array.from({ length: (last - first) / 86_400_000 + 1 }, (_, n) =>
    isoDay(first + n * 86_400_000),
  )
}

export function isoDay(time) {
  return new Date(time).toISOString().slice(0, 10)
}

/** The counts and credits of a row of `/users`. */
export const USER_METRICS = [
  'tool_calls',
  'billable_tokens',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
  'mcp_calls',
  'skill_calls',
  'slash_commands',
  'hooks',
  'sessions',
  'messages',
  'user_messages',
  'assistant_messages',
]

/** Whether the user of a row did or spent anything that day. */
export function isActive(row) {
  return USER_METRICS.some((name) => Number(row[name] ?? 0) > 0)
}
