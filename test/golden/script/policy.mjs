// What the enterprise controls allow against what was used: the settings in force
// are followed moment by moment, where the models compare days.
import { groupBy, sum, unique } from './reading.mjs'
import { controls, org_id } from './served.mjs'
import { canonical } from './tools.mjs'

const DAY = 86_400_000
const LEVELS = ['manual', 'auto-low', 'auto-medium', 'auto-high']
const SETTINGS = ['off', 'low', 'medium', 'high']

const revisions = controls.sort((a, b) => a.revision - b.revision)

/** Each policy: whom a value is allowed by settings, and what they name. */
const POLICIES = {
  mcp_servers: {
    named: ({ mcpPolicy }) => (mcpPolicy?.allowlist ?? []).map(canonical),
    isAllowed({ mcpPolicy }, server) {
      const list = mcpPolicy?.enabled === true ? mcpPolicy.allowlist.map(canonical) : []
      return list.length === 0 || list.includes(server)
    },
  },
  models: {
    named: ({ modelPolicy, customModels }) => [
      ...(modelPolicy?.allowedModelIds ?? []),
      ...(modelPolicy?.blockedModelIds ?? []),
      ...(modelPolicy?.allowCustomModels === false ? [] : (customModels ?? [])),
    ],
    isAllowed({ modelPolicy }, model) {
      const { allowedModelIds = [], blockedModelIds = [] } = modelPolicy ?? {}
      if (allowedModelIds.length > 0) return allowedModelIds.includes(model)
      return !blockedModelIds.includes(model)
    },
  },
  autonomy_level: {
    named: (settings) =>
      settings.maxAutonomyLevel === undefined
        ? []
        : LEVELS.filter((level) => POLICIES.autonomy_level.isAllowed(settings, level)),
    isAllowed({ maxAutonomyLevel, mcpAutonomyOverrides }, level) {
      if (maxAutonomyLevel === undefined) return true
      const overrides = Object.values(mcpAutonomyOverrides ?? {}).flatMap((override) => [
        override.defaultLevel,
        ...Object.values(override.tools),
      ])
      const highest = [maxAutonomyLevel, ...overrides].map((name) => SETTINGS.indexOf(name))
      return LEVELS.indexOf(level) <= Math.max(...highest)
    },
  },
  denied_commands: {
    named: ({ commandDenylist = [] }) => commandDenylist.map((command) => command.trim()),
    isAllowed: (settings, command) =>
      !POLICIES.denied_commands.named(settings).includes(command),
  },
}

export function policyUsage(made) {
  const uses = usesOf(made)
  return Object.entries(POLICIES).flatMap(([policy, { named, isAllowed }]) => {
    const values = unique([
      ...revisions.flatMap(({ settings }) => named(settings)),
      ...uses.filter((use) => use.policy === policy).map(({ value }) => value),
    ])
    const isRestricted = revisions.some(({ settings }) =>
      values.some((value) => !isAllowed(settings, value)),
    )
    return isRestricted ? values.map((value) => row(policy, value, isAllowed, uses)) : []
  })
}

/** Millionths of what was used. */
function usesOf(made) {
  const { fct_mcp_server_day, fct_model_day, fct_autonomy_level_day, fct_org_day } = made
  const callsOf = (day) => fct_org_day.find((each) => each.activity_date === day).tool_calls
  return [
    ...fct_mcp_server_day
      .filter(({ invocations }) => invocations > 0n)
      .map((use) => ({
        policy: 'mcp_servers',
        value: use.mcp_server,
        day: use.activity_date,
        amount: use.invocations * 1_000_000n,
      })),
    ...fct_model_day
      .filter((use) => !use.model_id.startsWith('(') && use.billable_tokens > 0n)
      .map((use) => ({
        policy: 'models',
        value: use.model_id,
        day: use.activity_date,
        amount: use.billable_tokens,
      })),
    ...fct_autonomy_level_day
      .filter(({ share }) => share > 0)
      .map((use) => ({
        policy: 'autonomy_level',
        value: use.autonomy_level,
        day: use.activity_date,
        amount: BigInt(Math.round(use.share * 1e6)) * callsOf(use.activity_date),
      })),
    ...deniedUses(made),
  ]
}

/** Per day and denied command: executions of hooks whose command begins with its words. */
function deniedUses({ fct_hook_day }) {
  const denied = unique(
    revisions.flatMap(({ settings }) => POLICIES.denied_commands.named(settings)),
  )
  return denied.flatMap((value) => {
    const isIt = ({ command }) => command === value || command?.startsWith(`${value} `)
    const days = groupBy(fct_hook_day.filter(isIt), ({ activity_date }) => activity_date)
    return [...days].map(([day, hooks]) => ({
      policy: 'denied_commands',
      value,
      day,
      amount: sum(hooks.map(({ invocations }) => invocations)) * 1_000_000n,
    }))
  })
}

function row(policy, value, isAllowed, all) {
  const uses = all
    .filter((use) => use.policy === policy && use.value === value)
    .sort((a, b) => (a.day < b.day ? -1 : 1))
  const judged = uses.map((use) => ({ ...use, verdict: verdictOf(use, isAllowed) }))
  const verdicts = revisions.map(({ settings }) => isAllowed(settings, value))
  const since = verdicts.lastIndexOf(!verdicts.at(-1)) + 1
  return {
    org_id,
    policy,
    value,
    is_allowed: verdicts.at(-1),
    is_used: uses.length > 0,
    first_use_date: uses[0]?.day ?? null,
    last_use_date: uses.at(-1)?.day ?? null,
    ...summary(
      'allowed',
      judged.filter(({ verdict }) => verdict === true),
    ),
    ...summary(
      'forbidden',
      judged.filter(({ verdict }) => verdict === false),
    ),
    since_revision: String(revisions[since].revision),
    since: revisions[since].updatedAt.replace('T', ' ').replace('.000Z', '+00'),
    actor_id: revisions[since].user.id,
    actor_email: revisions[since].user.email,
    actor_name: revisions[since].user.name,
  }
}

function summary(name, uses) {
  return {
    [`first_${name}_use_date`]: uses[0]?.day ?? null,
    [`last_${name}_use_date`]: uses.at(-1)?.day ?? null,
    [`${name}_use_days`]: uses.length,
    [`${name}_amount`]: sum(uses.map(({ amount }) => amount)),
  }
}

/** By the settings of each minute: one that allows is enough; null where another may have held. */
function verdictOf({ day, value }, isAllowed) {
  let isKnown = true
  for (let time = Date.parse(day); time < Date.parse(day) + DAY; time += 60_000) {
    const place = revisions.findLastIndex(({ updatedAt }) => Date.parse(updatedAt) <= time)
    if (place === -1) {
      isKnown = false
      continue
    }
    if (isAllowed(revisions[place].settings, value)) return true
    const next = revisions[place + 1]
    if (next && next.revision !== revisions[place].revision + 1) isKnown = false
  }
  return isKnown ? false : null
}
