import type { Config } from '../config/config.ts'
import { dayOf } from '../lib/days.ts'
import { ExitCode } from '../lib/errors.ts'
import { entitySelection, type SyncSelection } from '../pipeline/entity-resources.ts'
import { planEntities, type EntityPlan } from '../extract/entities/plan.ts'
import { ledgerOnceOpened } from '../extract/open-ledger.ts'
import { planSync, type FetchTask } from '../extract/plan/plan.ts'
import type { Ledger } from '../lake/ledger.ts'
import { readOrganisations } from '../lake/organisations.ts'
import { readWindowSizes, type KnownWindowSizes } from '../lake/window-sizes.ts'
import { counted } from '../observe/words.ts'
import { configured, dataOptions, defineCommand, jsonOf, jsonOption } from './command.ts'
import { selectionOf, selectionOptions } from './options.ts'

export const planCommand = defineCommand({
  examples: [
    ['$0 plan', 'by resource and reason'],
    ['$0 plan --only users --json', 'every window and every day of it'],
  ],
  options: { ...dataOptions, ...selectionOptions, ...jsonOption },
  run: async (flags, terminal) => {
    const selection = selectionOf(flags)
    const config = configured(flags, terminal)
    const plans = await plansOf(config, selection, Date.now())
    terminal.out(flags.json ? jsonOf(plans.map(asJson)) : plans.map(asText).join('\n'))
    return ExitCode.complete
  },
})

interface OrganisationPlan {
  /** Null before the platform was ever asked. */
  readonly orgId: string | null
  readonly tasks: readonly FetchTask[]
  readonly beside: readonly EntityPlan[]
}

/** The platform is not asked: its clock is reckoned as it was last seen. */
async function plansOf(
  config: Config,
  selection: SyncSelection,
  now: number,
): Promise<OrganisationPlan[]> {
  const { dataFolder } = config
  const known = [...(await readOrganisations(dataFolder))].map(([name, each]) => ({
    name,
    ...each,
  }))
  const unknown = config.hosts().map(({ name }) => ({ name, orgId: null, skewMs: 0 }))
  const organisations = known.length === 0 ? unknown : known
  return Promise.all(
    organisations.map(async ({ name, orgId, skewMs }) => {
      const there = now + skewMs
      const ledger: Ledger = orgId === null ? new Map() : await ledgerOnceOpened(dataFolder, orgId)
      const windowSizes: KnownWindowSizes =
        orgId === null ? new Map() : await readWindowSizes(dataFolder, orgId)
      const when = { today: dayOf(there), now: there }
      const tasks = planSync(ledger, { ...selection, ...when, windowSizes })
      const appUrl = config.hosts().find((each) => each.name === name)?.appUrl ?? null
      const lake = { dataFolder, orgId: orgId ?? '', recorder: { intervals: ledger } }
      const entities = await planEntities(lake, entitySelection({ config }, { appUrl }, selection))
      return { orgId, tasks, beside: entities }
    }),
  )
}

function asJson({ orgId, tasks, beside: entities }: OrganisationPlan): object {
  return {
    org_id: orgId,
    requests: tasks.length,
    tasks: tasks.map(({ resource, range, days }) => ({
      resource: resource.name,
      from: range.first,
      to: range.last,
      days: days.map(({ day, reason, age }) => ({
        activity_date: day,
        reason,
        ...(age === undefined ? {} : { age_days: age }),
      })),
    })),
    beside: entities,
  }
}

function asText({ orgId, tasks, beside: entities }: OrganisationPlan): string {
  const who = orgId ?? 'an organisation not asked before'
  if (tasks.length + entities.length === 0) return `${who}: nothing is due\n`
  const names = [...new Set(tasks.map(({ resource }) => resource.name))]
  const lines = names.map((name) =>
    resourceLine(
      name,
      tasks.filter(({ resource }) => resource.name === name),
    ),
  )
  const others = entities.map(({ resource, what }) => `  ${resource.padEnd(20)} ${what}`)
  const analytics = lines.length === 0 ? ['  analytics            nothing is due'] : lines
  return `${[`${who}:`, ...analytics, ...others].join('\n')}\n`
}

const REASONS = {
  missing: 'missing',
  failed: 'failed before',
  look: 'due for a recheck',
  forced: 'forced',
} as const

function resourceLine(name: string, tasks: readonly FetchTask[]): string {
  const days = tasks.flatMap((task) => task.days)
  const sorted = days.map(({ day }) => day).sort()
  const why = Object.entries(REASONS).flatMap(([reason, words]) => {
    const count = days.filter((each) => each.reason === reason).length
    return count === 0 ? [] : [`${count} ${words}`]
  })
  const asking = name === 'users' ? 'page by page' : `in ${counted(tasks.length, 'request')}`
  return `  ${name.padEnd(20)} ${String(days.length).padStart(4)} days, ${sorted[0] ?? ''} to ${sorted.at(-1) ?? ''}, ${asking}: ${why.join(', ')}`
}
