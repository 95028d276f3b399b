// The rows of every dimension and map, given those of the facts.
import { count, groupBy, unique } from './reading.mjs'
import { added, answers, calendar, isoDay, UNATTRIBUTED, org_id, seeds, today } from './served.mjs'
import { canonical, spellings, toolName } from './tools.mjs'

export function dimensions(made) {
  const history = made.fct_user_day.map(({ user_id }) => user_id)
  const consumers = made.fct_user_model_day.map(({ user_id }) => user_id)
  const members = unique([...history, ...consumers])
  const periods = members.filter((member) => member !== UNATTRIBUTED).flatMap(periodsOf)
  const firstAndLast = (rows) => ({
    first_active_date: rows.map(({ activity_date }) => activity_date).sort()[0] ?? null,
    last_active_date:
      rows
        .map(({ activity_date }) => activity_date)
        .sort()
        .at(-1) ?? null,
  })
  const dimension = (column, rows, more) =>
    unique(rows.map((row) => row[column])).map((name) => {
      const own = rows.filter((row) => row[column] === name)
      return { org_id, [column]: name, ...firstAndLast(own), ...more(name, own) }
    })
  const clients = {
    'terminal-ui': 'Interactive CLI',
    web: 'Web application',
    'non-interactive-cli': 'Headless or automated CLI',
  }
  const servers = today.tools.flatMap((row) =>
    (row.mcp_by_server ?? []).map(({ server, invocations }) => ({
      activity_date: row.date,
      mcp_server: canonical(server),
      spelling: server,
      invocations: count(invocations),
    })),
  )
  const used = [
    ...made.fct_model_day,
    ...made.fct_user_model_day,
    ...made.fct_user_day
      .filter(({ primary_model }) => primary_model !== null)
      .map((row) => ({ ...row, model_id: row.primary_model, model_tier: row.primary_model_tier })),
  ].sort((a, b) => (a.activity_date < b.activity_date ? -1 : 1))
  return {
    dim_date: calendar().map(date),
    dim_user_history: periods,
    dim_user: members.map((user_id) => {
      const current = periods.find((period) => period.user_id === user_id && period.is_current)
      const own = made.fct_user_day.filter((row) => row.user_id === user_id && row.is_active)
      return {
        org_id,
        user_id,
        user_email: current?.user_email ?? null,
        user_label: current?.user_email ?? user_id,
        team: current?.team ?? null,
        cost_centre: current?.cost_centre ?? null,
        ...firstAndLast(own),
        active_days: own.length,
      }
    }),
    dim_model: dimension('model_id', used, (_, own) => ({
      model_tier: own.findLast(({ model_tier }) => model_tier !== null)?.model_tier ?? null,
    })),
    dim_tool: dimension('tool_name', made.fct_tool_day, (name) => ({
      is_unparsed: name === '(unparsed)',
      spelling_count: spellings().filter((spelling) => toolName(spelling) === name).length,
    })),
    dim_mcp_server: dimension('mcp_server', servers, (_, own) => {
      const used = added(own, ['spelling'], ['invocations']).sort((a, b) =>
        Number(b.invocations - a.invocations),
      )
      return { display_name: used[0].spelling, spelling_count: used.length }
    }),
    dim_client: dimension('client', made.fct_client_day, (name) => ({
      description: clients[name],
    })),
    dim_event: seeds.events.map(({ event_date, name, team, description }) => ({
      org_id,
      event_date,
      event_name: name,
      team,
      description,
    })),
    map_tool_spelling: spellings().map((spelling) => ({
      org_id,
      spelling,
      tool_name: toolName(spelling),
    })),
    map_mcp_server_spelling: unique(servers.map(({ spelling }) => spelling)).map((spelling) => ({
      org_id,
      spelling,
      mcp_server: canonical(spelling),
    })),
  }
}

/** Day by day: the address known by then, and the team that the seed gives them. */
function periodsOf(user_id) {
  const sightings = new Map()
  for (const row of today.tokens) {
    for (const user of row.by_user)
      if (user.user_id === user_id) sightings.set(row.date, user.user_email ?? null)
  }
  for (const row of today.users) {
    if (row.user_id !== user_id) continue
    sightings.set(row.date, row.user_email ?? sightings.get(row.date) ?? null)
  }
  const addresses = [...sightings.values()].filter((email) => email !== null)
  const found = []
  let user_email = null
  for (const day of calendar().filter((each) => each >= [...sightings.keys()].sort()[0])) {
    user_email = sightings.get(day) ?? user_email
    const { team = null, cost_centre = null } = teamOf(user_id, user_email, addresses, day)
    const last = found.at(-1)
    const isSame =
      last?.user_email === user_email && last.team === team && last.cost_centre === cost_centre
    if (isSame) continue
    if (last !== undefined) Object.assign(last, { valid_to: day, is_current: false })
    found.push({
      org_id,
      user_id,
      user_email,
      team,
      cost_centre,
      valid_from: day,
      valid_to: null,
      is_current: true,
    })
  }
  return found
}

function teamOf(user_id, email, addresses, day) {
  const begun = seeds.teams.filter(({ valid_from }) => valid_from <= day)
  const is = (line, name) => line.user.toLowerCase() === name?.toLowerCase()
  const now = begun.filter((line) => line.user === user_id || is(line, email))
  const ever = begun.filter((line) => addresses.some((address) => is(line, address)))
  const lines = (now.length > 0 ? now : ever).sort((a, b) => (a.valid_from < b.valid_from ? -1 : 1))
  return lines.at(-1) ?? {}
}

function date(day) {
  const time = new Date(`${day}T00:00:00Z`)
  const iso_weekday = ((time.getUTCDay() + 6) % 7) + 1
  const monday = time.getTime() - (iso_weekday - 1) * 86_400_000
  const iso_year = new Date(monday + 3 * 86_400_000).getUTCFullYear()
  const firstThursday = Date.parse(`${iso_year}-01-04T00:00:00Z`)
  const firstMonday = firstThursday - ((new Date(firstThursday).getUTCDay() + 6) % 7) * 86_400_000
  const iso_week = Math.round((monday - firstMonday) / (7 * 86_400_000)) + 1
  const [year, month, dayOfMonth] = day.split('-').map(Number)
  const covering = answers.filter(({ meta }) => meta.start_date <= day && day <= meta.end_date)
  const resources = groupBy(covering, ({ resource }) => resource)
  return {
    org_id,
    activity_date: day,
    year,
    quarter: Math.ceil(month / 3),
    month,
    day_of_month: dayOfMonth,
    month_start_date: `${day.slice(0, 7)}-01`,
    week_start_date: isoDay(monday),
    iso_year,
    iso_week,
    iso_weekday,
    weekday_name: time.toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' }),
    is_weekend: iso_weekday > 5,
    iso_week_name: `${iso_year}-W${String(iso_week).padStart(2, '0')}`,
    is_final: [...resources.values()].every((versions) => {
      const age = Date.parse(`${versions.at(-1).fetched}T05:00:00Z`) - time.getTime()
      return age >= 30 * 86_400_000
    }),
    is_complete: resources.size === 8,
  }
}
