/** What a hook's command receives on standard input. */
export interface HookInput {
  readonly hook_event_name: string
  readonly session_id: string
  readonly cwd: string
  readonly message?: string
  readonly reason?: string
}

const INPUT = { session_id: 'session-1', cwd: '/home/ada/web' }

/** Every event, and every reason for the end of a session. */
export const HOOK_INPUTS: readonly HookInput[] = [
  { ...INPUT, hook_event_name: 'Notification', message: 'needs you' },
  { ...INPUT, hook_event_name: 'Stop' },
  { ...INPUT, hook_event_name: 'SubagentStop' },
  { ...INPUT, hook_event_name: 'PostToolUse' },
  { ...INPUT, hook_event_name: 'SessionEnd', reason: 'error' },
  { ...INPUT, hook_event_name: 'SessionEnd', reason: 'other', session_id: 'session-2' },
  { ...INPUT, hook_event_name: 'SessionEnd', reason: 'logout', session_id: 'session-3' },
]

export function hookTitle({ hook_event_name: name, ...input }: HookInput): string {
  const { reason = '' } = input
  const fields = Object.keys(input).join(', ')
  const end = reason === '' ? '' : ` with the reason ${reason}`
  return `${name}${end} is recorded with ${fields}`
}
