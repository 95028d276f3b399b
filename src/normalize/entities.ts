/** One typed, flat table of the base, and the raw resource it is made from. */
export interface Entity {
  /** Names its statement, `sql/base/<name>.sql`, and its folder in the lake. */
  readonly name: string
  readonly resource: string
}

const ANALYTICS: Readonly<Record<string, readonly string[]>> = {
  // `tokens_days` tells which version the others are of: it is written when they are.
  tokens: ['tokens_models', 'tokens_users', 'tokens_user_models', 'tokens_days'],
  tokens_by_model: ['tokens_by_model'],
  tools: [
    'tools_days',
    'tools_tools',
    'tools_mcp_servers',
    'tools_skills',
    'tools_slash_commands',
    'tools_hooks',
    'tools_autonomy_levels',
  ],
  tools_by_name: ['tools_by_name'],
  activity: ['activity_days', 'activity_clients'],
  activity_by_client: ['activity_by_client'],
  productivity: ['productivity_days', 'productivity_languages', 'productivity_extensions'],
  users: ['users', 'user_languages'],
}

const BESIDE_ANALYTICS: Readonly<Record<string, readonly string[]>> = {
  enterprise_controls: ['controls_revisions', 'controls_settings'],
  usage_limits: ['usage_limits_days', 'usage_limits_users'],
  readiness_reports: ['readiness_reports', 'readiness_criteria'],
  computers: ['computers', 'computer_steps'],
  computer_metrics: ['computer_metrics'],
  sessions: ['sessions', 'session_children', 'session_tags'],
  messages: ['messages'],
  hook_events: ['hook_events'],
}

export const ENTITIES: readonly Entity[] = [ANALYTICS, BESIDE_ANALYTICS].flatMap((entitiesOf) =>
  Object.entries(entitiesOf).flatMap(([resource, names]) =>
    names.map((name) => ({ name, resource })),
  ),
)

/** Whether the rows of the resource are those of an analytics day, which may be restated. */
export function isAnalytics(resource: string): boolean {
  return resource in ANALYTICS
}
