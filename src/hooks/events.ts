/** The events that the agent runs a registered command for (PLATFORM_API, "Events"). */
export const HOOK_EVENTS = [
  'Notification',
  'Stop',
  'SubagentStop',
  'SessionEnd',
  'PostToolUse',
] as const

export type HookEventName = (typeof HOOK_EVENTS)[number]

/** Registered where nothing else is asked for: `PostToolUse` comes with every call of a tool. */
export const DEFAULT_EVENTS: readonly HookEventName[] = HOOK_EVENTS.filter(
  (name) => name !== 'PostToolUse',
)

export function isHookEvent(name: string): name is HookEventName {
  return HOOK_EVENTS.some((each) => each === name)
}
