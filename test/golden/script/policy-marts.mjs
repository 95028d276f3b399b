// Who is on the allow-lists of addresses, how long sessions are kept, and which
// hook events are recorded.
import { groupBy, sum, unique } from './reading.mjs'
import { controls, UNATTRIBUTED, org_id, rowsOf, today } from './served.mjs'
import { later } from './weeks.mjs'

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
  const asOf = unique(fct_user_day.map(({ activity_date }) => activity_date)).at(-1)
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

/** The case has no session: every period has none. */
function retention() {
  const daysOf = ({ settings }) => settings.sessionRetentionDays ?? null
  const begun = revisions.filter(
    (revision, place) => place === 0 || daysOf(revision) !== daysOf(revisions[place - 1]),
  )
  const time = ({ updatedAt }) => updatedAt.replace('T', ' ').replace('.000Z', '+00')
  return begun.map((revision, place) => ({
    org_id,
    since_revision: String(revision.revision),
    retention_days: daysOf(revision) === null ? null : String(daysOf(revision)),
    valid_from: time(revision),
    valid_to: begun[place + 1] === undefined ? null : time(begun[place + 1]),
    fetched_sessions: 0,
    oldest_session_days: null,
    sessions_past_retention: daysOf(revision) === null ? null : 0,
    actor_id: revision.user.id,
    actor_email: revision.user.email,
    actor_name: revision.user.name,
  }))
}

/** The case has no recorded event. */
function hookRecording({ fct_hook_day }) {
  const days = unique(today.tools.map(({ date }) => date)).filter(
    (day) => rowsOf('tools', day)[0].hooks_by_event !== undefined,
  )
  return days.flatMap((activity_date) => {
    const hooks = fct_hook_day.filter((row) => row.activity_date === activity_date)
    return [...groupBy(hooks, ({ hook_event }) => hook_event)].map(([hook_event, rows]) => {
      const count = (some) => sum(some.map(({ invocations }) => invocations)) ?? 0n
      const ours = count(rows.filter(({ command }) => / hooks run --data /.test(command)))
      return {
        org_id,
        activity_date,
        hook_event,
        platform_invocations: count(rows),
        recorder_invocations: ours,
        recorded_events: 0,
        recorded_share: ours === 0n ? null : 0,
      }
    })
  })
}
