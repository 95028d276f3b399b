import { z } from 'zod'

const text = z.string()
const number = z.coerce.number()
/** NULL if the platform did not serve it, contradicts itself, or if it concerns too few people. */
const count = number.nullable()

function rows<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.array(z.object(shape))
}

/** The rows of each statement of `sql/report` for one organisation, by its name. Days are ISO 8601. */
const datasets = {
  periods: rows({
    days: number,
    period: z.enum(['current', 'previous', 'year']),
    team: text.nullable(),
    active_users: count,
    billable_tokens: count,
    /** Like `user_messages`, of the days on which both are known. */
    tool_calls: count,
    user_messages: count,
    sessions: count,
    files: count,
    git_commits: count,
    git_prs_created: count,
  }),
  unknown_days: rows({
    day: text,
    /** A resource that did not answer, or a figure that its response does not have. */
    source: z.enum([
      'activity',
      'sessions',
      'user_messages',
      'productivity',
      'files',
      'git_commits',
      'git_prs_created',
      'tokens',
      'billable_tokens',
      'tools',
      'tool_calls',
      'users',
    ]),
  }),
  active_days: rows({
    day: text,
    daily: count,
    weekly: count,
    monthly: count,
    stickiness: count,
  }),
  team_weeks: rows({ week: text, team: text, active_users: number }),
  lifecycle_weeks: rows({
    week: text,
    active_users: number,
    new_users: number,
    retained_users: number,
    resurrected_users: number,
    churned_users: number,
    is_left_edge: z.boolean(),
  }),
  retention_weeks: rows({
    cohort: text,
    week_number: number,
    cohort_users: number,
    active_users: number,
    retention: number,
    is_left_edge: z.boolean(),
  }),
  usage_groups: rows({ active_days: number, users: number }),
  seats: rows({ status: text, people: number }),
  model_weeks: rows({ week: text, model: text, place: number, billable_tokens: count }),
  cache_weeks: rows({ week: text, share: count }),
  month_days: rows({ month: text, day_of_month: number, billable_tokens: count }),
  compared_month: rows({
    month: text,
    previous_month: text,
    compared_days: number,
    billable_tokens: number,
    previous_billable_tokens: number,
  }),
  limits: rows({ month: text, users_past: number, users_over: number }),
  forecast_days: rows({
    month: text,
    day: text,
    days_left: number,
    month_to_date: number,
    p10: count,
    p50: count,
    p90: count,
    credit_limit: count,
    exhaustion_day: text.nullable(),
    missing_days: number,
  }),
  forecast_months: rows({
    month: text,
    forecasts: number,
    error: number,
    last_month_error: count,
    straight_line_error: count,
    within_band: number,
  }),
  bridge: rows({
    month: text,
    previous_month: text,
    compared_days: number,
    /** Values of `mart_spend_bridge`, separated by commas. */
    components: text,
    change: number,
    users: count,
    billable_tokens: number,
    previous_billable_tokens: number,
  }),
  concentration: rows({
    month: text,
    share_of_users: number,
    share_of_credits: number,
  }),
  autonomy_weeks: rows({ week: text, ratio: count, p50: count, p90: count }),
  autonomy_levels: rows({ week: text, level: text, share: count }),
  tools: rows({
    kind: z.enum(['tool', 'server']),
    days: number,
    name: text,
    invocations: number,
    share: count,
    names: number,
  }),
  client_weeks: rows({ week: text, client: text, daily_users: count }),
  output_weeks: rows({
    week: text,
    billable_tokens: count,
    files: count,
    git_commits: count,
    git_prs_created: count,
  }),
  readiness: rows({
    day: text,
    repository: text,
    passing: number,
    evaluated: number,
    pass_rate: count,
  }),
  anomaly_days: rows({
    day: text,
    scope: z.enum(['org', 'user']),
    is_above: z.boolean(),
    flags: number,
    billable_tokens: count,
    usual_low: count,
    usual_high: count,
  }),
  policy: rows({
    policy: text,
    value: text,
    status: z.enum(['not_allowed', 'allowed_since', 'unused']),
    forbidden_use_days: number,
    forbidden_amount: count,
    last_forbidden_use: text.nullable(),
    since: text.nullable(),
    changed_by: text.nullable(),
  }),
  allowed_emails: rows({
    allow_list: text,
    listed: number,
    listed_active: number,
    listed_idle: number,
    listed_never: number,
    not_listed: number,
    other_domain: number,
  }),
  allowed_people: rows({
    allow_list: text,
    email: text,
    is_domain_listed: z.boolean(),
    active_days: number,
  }),
  session_retention: rows({
    days_kept: count,
    since: text,
    until: text.nullable(),
    fetched: number,
    oldest_days: count,
    past: count,
    changed_by: text.nullable(),
  }),
  hook_recording: rows({
    days: number,
    hook_event: text,
    runs: count,
    recording_runs: count,
    recorded: number,
    recorded_share: count,
  }),
  anomaly_people: rows({
    day: text,
    person: text,
    billable_tokens: number,
    usual_low: number,
    usual_high: number,
    score: number,
  }),
  people: rows({
    person: text,
    usage_group: text.nullable(),
    active_days: number,
    sessions: count,
    billable_tokens: number,
    tool_calls: count,
    last_active: text.nullable(),
  }),
}

/** An organisation, the trust in its data (`mart_data_health`), and its rows. */
const organisation = z.object({
  org_id: text,
  /** With use; without any, the first known day. */
  first_day: text.nullable(),
  /** The last known day, with or without use. */
  last_day: text.nullable(),
  data_through: text.nullable(),
  missing_days: number,
  failed_days: number,
  residual_checks_failed: number,
  restatements_28d: number,
  drift_findings: number,
  sessions_known_share: count,
  /** Whether more were fetched than the platform counts. */
  has_more_sessions: z.boolean(),
  verdict: text,
  /** Whether they have ever landed. */
  are_settings_known: z.boolean(),
  /** Days without known users, of the 28 that `usage_groups` and `seats` count. */
  users_missing_28d: number,
  ...datasets,
})

/** A metric of `metrics.yml`. */
const definition = z.object({
  name: text,
  label: text,
  unit: text,
  description: text,
  /** The source of the metric: its model and grain, or the two metrics of the ratio. */
  basis: text,
  mistake: text,
})

export const reportData = z.object({
  version: text,
  /** ISO 8601, UTC. */
  generatedAt: text,
  /** More than `organisations` if the report shows a selection. */
  organisationsInWarehouse: number,
  withPeople: z.boolean(),
  metrics: z.array(definition),
  organisations: z.array(organisation),
})

export type ReportData = z.infer<typeof reportData>
export type Definition = z.infer<typeof definition>
export type Organisation = z.infer<typeof organisation>
type DatasetName = keyof typeof datasets
export type Row<K extends DatasetName> = z.infer<(typeof datasets)[K]>[number]
export type Period = Row<'periods'>
export type Source = Row<'unknown_days'>['source']

/** Statements under `sql/report` with the rows of each dataset. */
export const DATASET_NAMES: readonly string[] = Object.keys(datasets)
