import type { HooksConfig, QuietHours, Rule } from './config.ts'
import type { HookEvent } from './event.ts'

/** The channels that are told of the event, in the rules' order, each once. */
export function channelsFor(
  config: Pick<HooksConfig, 'rules' | 'quiet_hours'>,
  event: Pick<HookEvent, 'name' | 'isFailure' | 'recordedAt'>,
): readonly string[] {
  const rules = config.rules.filter(
    (rule) =>
      rule.events.includes(event.name) &&
      (rule.when === 'any' || event.isFailure) &&
      !isQuiet(rule, config.quiet_hours, event),
  )
  return [...new Set(rules.flatMap(({ channels }) => channels))]
}

function isQuiet(
  { quiet_hours: own }: Rule,
  general: QuietHours | undefined,
  { isFailure, recordedAt }: Pick<HookEvent, 'isFailure' | 'recordedAt'>,
): boolean {
  const hours = own ?? general
  if (hours === undefined || hours === 'off') return false
  if (hours.except === 'failure' && isFailure) return false
  return isWithin(hours, recordedAt)
}

/** From the minute of `from` to that of `to`, which is not part of it; also across midnight. */
export function isWithin({ from, to, timezone }: QuietHours, at: number): boolean {
  const time = wallClock(at, timezone)
  return from < to ? time >= from && time < to : time >= from || time < to
}

/** `HH:MM` there and then; without a zone, the machine's. */
function wallClock(at: number, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(at)
}
