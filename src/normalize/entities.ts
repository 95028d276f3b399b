/** One typed, flat table of the base, and the raw resource it is made from. */
export interface Entity {
  /** Names its statement, `sql/base/<name>.sql`, and its folder in the lake. */
  readonly name: string
  readonly resource: string
}

const ENTITIES_OF: Readonly<Record<string, readonly string[]>> = {
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

export const ENTITIES: readonly Entity[] = Object.entries(ENTITIES_OF).flatMap(
  ([resource, names]) => names.map((name) => ({ name, resource })),
)
