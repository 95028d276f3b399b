// The case has no entity resources: their tables exist and are empty.
export function emptyEntities() {
  const tables = [
    'dim_computer',
    'dim_control_current',
    'dim_readiness_report',
    'fct_computer_metric',
    'fct_control_change',
    'fct_hook_event',
    'fct_message',
    'fct_provisioning_step',
    'fct_readiness_criterion',
    'fct_session',
    'fct_usage_limit',
  ]
  return Object.fromEntries(tables.map((table) => [table, []]))
}
