// Who is on the allow-lists of addresses, how long sessions are kept, and which
// hook events are recorded.
import { groupBy, sum, unique } from './reading.mjs'
import { controls, hookEvents, UNATTRIBUTED, org_id, sessions } from './served.mjs'
import { lastDayOfUsers, later } from './weeks.mjs'

const LISTS = {
  managed_computers: 'managedComputersAllowedEmails',
  byom_computers: 'byomComputersAllowedEmails',
}

const revisions = controls.toSorted((a, b) => a.revision - b.revision)

export function policyMarts(made) {
  return {
    mart_allowed_emails: allowedEmails(made),
    mart_session_retention: retention(),
    mart_hook_recording: hookRecording(made),
  }
}

function allowedEmails({ dim_user, fct_user_day }) {
  const asOf = lastDayOfUsers()
  const members = dim_user
    .filter(({ user_id, user_email }) => user_id !== UNATTRIBUTED && user_email !== null)
    .map(({ user_id, user_email, last_active_date }) => ({
      user_id,
      email: user_email.toLowerCase(),
      last_active_date,
      active_days_28d: fct_user_day.filter(
        (row) =>
          row.user_id === user_id && row.is_active && row.activity_date > later(asOf, -28),
      ).length,
    }))
  const active = members.filter(({ active_days_28d }) => active_days_28d > 0)
  return Object.entries(LISTS).flatMap(([allow_list, setting]) => {
    const listed = (revisions.at(-1).settings[setting] ?? []).map((each) => each.toLowerCase())
    if (listed.length === 0) return []
    return unique([...listed, ...active.map(({ email }) => email)]).map((email) => {
      const member = members.find((each) => each.email === email)
      const domain = domainOf(email)
      return {
        org_id,
        allow_list,
        email,
        email_domain: domain,
        is_listed: listed.includes(email),
        is_domain_listed: listed.some((each) => domainOf(each) === domain),
        user_id: member?.user_id ?? null,
        last_active_date: member?.last_active_date ?? null,
        active_days_28d: member?.active_days_28d ?? 0,
        status: statusOf(member),
      }
    })
  })
}

function domainOf(email) {
  return email.split('@')[1]
}

function statusOf(member) {
  if (member === undefined) return 'never_active'
  return member.active_days_28d > 0 ? 'active' : 'idle'
}

/** Sessions stand in the period in which they were fetched: at five in the morning. */
function retention() {
  const daysOf = ({ settings }) => settings.sessionRetentionDays ?? null
  const begun = revisions.filter(
    (revision, place) => place === 0 || daysOf(revision) !== daysOf(revisions[place - 1]),
  )
  const time = ({ updatedAt }) => updatedAt.replace('T', ' ').replace('.000Z', '+00')
  return begun.map((revision, place) => {
    const [days, next] = [daysOf(revision), begun[place + 1]]
    const fetched = sessions.filter(({ fetched }) => {
      const at = `${fetched}T05:00:00.000Z`
      return at >= revision.updatedAt && (next === undefined || at < next.updatedAt)
    })
    const ages = fetched.filter(({ updatedAt }) => updatedAt !== undefined).map(ageOf)
    return {
      org_id,
      since_revision: String(revision.revision),
      retention_days: days === null ? null : String(days),
      valid_from: time(revision),
      valid_to: next === undefined ? null : time(next),
      fetched_sessions: fetched.length,
      oldest_session_days: ages.length === 0 ? null : Math.max(...ages),
      sessions_past_retention: days === null ? null : ages.filter((age) => age > days).length,
      actor_id: revision.user.id,
      actor_email: revision.user.email,
      actor_name: revision.user.name,
    }
  })
}

/** Between the days, whatever the time of day. */
function ageOf({ updatedAt, fetched }) {
  const day = new Date(updatedAt).toISOString().slice(0, 10)
  return (Date.parse(fetched) - Date.parse(day)) / 86_400_000
}

function hookRecording({ fct_hook_day, fct_org_day }) {
  const recorded = hookEvents.flatMap(({ recorded_at, input }) => {
    if (recorded_at === undefined) return []
    const activity_date = new Date(recorded_at).toISOString().slice(0, 10)
    return [{ activity_date, hook_event: input.hook_event_name ?? '(unnamed)' }]
  })
  const keyOf = ({ activity_date, hook_event }) => `${activity_date} ${hook_event}`
  const [counts, events] = [groupBy(fct_hook_day, keyOf), groupBy(recorded, keyOf)]
  return unique([...counts.keys(), ...events.keys()]).map((key) => {
    const [activity_date, hook_event] = key.split(' ')
    const org = fct_org_day.find((row) => row.activity_date === activity_date)
    const none = (org?.hooks_invocations ?? null) === null ? null : 0n
    const rows = counts.get(key) ?? []
    const ours = rows.filter(({ command }) => / hooks run --data /.test(command))
    const count = (some) => sum(some.map(({ invocations }) => invocations)) ?? 0n
    const runs = rows.length === 0 ? none : count(ours)
    const found = events.get(key)?.length ?? 0
    return {
      org_id,
      activity_date,
      hook_event,
      platform_invocations: rows.length === 0 ? none : count(rows),
      recorder_invocations: runs,
      recorded_events: found,
      recorded_share: runs === null || runs === 0n ? null : found / Number(runs),
    }
  })
}
