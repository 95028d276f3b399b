// The case has nothing beside analytics: what is made of the rest is there, and
// empty.
export function beside() {
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
