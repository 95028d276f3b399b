/**
 * One thing the platform can be asked for. `days`: one answer covers a range of
 * days. `users`: pages, one day at a time, because a window of several days
 * makes a page ambiguous.
 */
export interface Resource {
  readonly name: string
  readonly endpoint: 'tokens' | 'tools' | 'activity' | 'productivity' | 'users'
  readonly groupBy?: 'model' | 'tool_name' | 'client'
  readonly grain: 'days' | 'users'
  /** The field of a row that says how large the day was; without one its rows or users are counted. */
  readonly sizeField?: string
}

export const RESOURCES: readonly Resource[] = [
  { name: 'activity', endpoint: 'activity', grain: 'days', sizeField: 'daily_active_users' },
  { name: 'tokens', endpoint: 'tokens', grain: 'days' },
  { name: 'tools', endpoint: 'tools', grain: 'days' },
  { name: 'productivity', endpoint: 'productivity', grain: 'days' },
  { name: 'activity_by_client', endpoint: 'activity', groupBy: 'client', grain: 'days' },
  { name: 'tokens_by_model', endpoint: 'tokens', groupBy: 'model', grain: 'days' },
  { name: 'tools_by_name', endpoint: 'tools', groupBy: 'tool_name', grain: 'days' },
  { name: 'users', endpoint: 'users', grain: 'users' },
]

/**
 * What a day's pages of users are held against: when none of these moved while
 * the pages were read, the pages are of one snapshot.
 */
export const DAY_TOTALS: readonly Resource[] = RESOURCES.filter(({ name }) =>
  ['activity', 'tokens_by_model', 'productivity'].includes(name),
)
