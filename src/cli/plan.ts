import type { Config } from '../config/config.ts'
import { mapLimit } from '../lib/concurrency.ts'
import { dayOf } from '../lib/days.ts'
import { entitySelection, type SyncSelection } from '../pipeline/sync.ts'
import { ownHooks } from '../extract/entities/hooks.ts'
import { planEntities } from '../extract/entities/sync.ts'
import { LandingDatabase } from '../extract/land/raw-writer.ts'
import { ledgerOnceOpened } from '../extract/open-ledger.ts'
import { planSync, type FetchTask } from '../extract/plan/sync-plan.ts'
import type { Ledger } from '../lake/ledger.ts'
import { ofNames, readOrganisations } from '../lake/organisations.ts'
import { isOfUsers } from '../lake/resources.ts'
import { learnedSizes } from '../lake/state-file.ts'
import { counted } from '../lib/text.ts'
import { ORGANISATIONS_AT_ONCE } from '../serve/status.ts'
import { dataCommand, jsonOption } from './command.ts'
import { selectionOf, selectionOptions } from './options.ts'

export const planCommand = dataCommand({
  examples: {
    '$0 plan': 'show the requests by resource and reason',
    '$0 plan --only users --json': 'show every window and its days',
  },
  options: { ...selectionOptions, ...jsonOption },
  run: (flags, { now }) => {
    const selectionIn = selectionOf(flags)
    return async (config) => {
      const plans = await plansOf(config, selectionIn(config), now())
      return { json: plans.map(asJson), text: plansText(plans) }
    }
  },
})

type OrganisationPlan = Awaited<ReturnType<typeof plansOf>>[number]

/** Makes no request: the platform's clock is estimated from the last response. */
async function plansOf(config: Config, selection: SyncSelection, now: number) {
  const { dataFolder } = config
  const hosts = config.hosts()
  const names = hosts.map(({ name }) => name)
  const everKnown = await readOrganisations(dataFolder)
  const configured = ofNames(everKnown, names)
  // without a configuration, the organisations in the data folder
  const isConfigured = names.length > 1 || configured.size > 0 || everKnown.size === 0
  const known = isConfigured ? configured : everKnown
  const all = isConfigured ? names : [...known.keys()]
  await using database = new LandingDatabase(dataFolder)
  return await mapLimit(selection.organisations ?? all, ORGANISATIONS_AT_ONCE, async (name) => {
    const { orgId, skewMs } = known.get(name) ?? { orgId: null, skewMs: 0 }
    const ledger: Ledger = orgId === null ? new Map() : await ledgerOnceOpened(dataFolder, orgId)
    const windowSizes = await learnedSizes.read(dataFolder, orgId ?? '')
    const platformTime = now + skewMs
    const when = { today: dayOf(platformTime), now: platformTime }
    const tasks = planSync(ledger, { ...selection, ...when, windowSizes })
    const appUrl = hosts.find((each) => each.name === name)?.appUrl ?? null
    const lake = { dataFolder, orgId: orgId ?? '', ledger, database }
    const wanted = entitySelection({ config }, { appUrl }, selection)
    const own = await ownHooks(wanted, dataFolder, { orgId, name })
    const entities = await planEntities(lake, own, when.today)
    return { name, orgId, tasks, entities } // orgId: null before the first request
  })
}

function asJson({ name, orgId, tasks, entities }: OrganisationPlan): object {
  return {
    name,
    org_id: orgId,
    requests: tasks.length,
    tasks: tasks.map(({ resource, range, days }) => ({
      resource: resource.name,
      from: range.first,
      to: range.last,
      days: days.map(({ day, reason, age }) => ({ activity_date: day, reason, age_days: age })),
    })),
    entities,
  }
}

function plansText(plans: readonly OrganisationPlan[]): string {
  const due = plans.filter(({ tasks, entities }) => tasks.length + entities.length > 0)
  const rest = plans.length - due.length
  if (rest <= LISTED) return plans.map(asText).join('\n')
  return [...due.map(asText), `${counted(rest, 'organisation')}: nothing is due\n`].join('\n')
}

const LISTED = 10

function asText({ name, orgId, tasks, entities }: OrganisationPlan): string {
  const label = orgId ?? `'${name}', which was never loaded`
  if (tasks.length + entities.length === 0) return `${label}: nothing is due\n`
  const names = [...new Set(tasks.map(({ resource }) => resource.name))]
  const analytics = names.map((name) => {
    const own = tasks.filter(({ resource }) => resource.name === name)
    return { resource: name, what: analyticsText(name, own) }
  })
  const nothing = tasks.length === 0 ? [{ resource: 'analytics', what: 'nothing is due' }] : []
  const lines = [...nothing, ...analytics, ...entities].map(
    ({ resource, what }) => `  ${resource.padEnd(20)} ${what}\n`,
  )
  return `${label}:\n${lines.join('')}`
}

const REASONS = {
  missing: 'missing',
  failed: 'failed before',
  recheck: 'due for a recheck',
  forced: 'forced',
} as const

function analyticsText(name: string, tasks: readonly FetchTask[]): string {
  const days = tasks.flatMap((task) => task.days)
  const sorted = days.map(({ day }) => day).sort()
  const why = Object.entries(REASONS).flatMap(([reason, words]) => {
    const count = days.filter((each) => each.reason === reason).length
    return count === 0 ? [] : [`${count} ${words}`]
  })
  const asking = isOfUsers(name) ? 'page by page' : `in ${counted(tasks.length, 'request')}`
  const [first = '', last = first] = [sorted[0], sorted.at(-1)]
  const range = first === last ? first : `${first} to ${last}`
  return `${counted(days.length, 'day').padStart(9)}, ${range}, ${asking}: ${why.join(', ')}`
}
