/** A UTC calendar day, `YYYY-MM-DD`. Days compare as strings. Not in `days.ts`, because `hooks run` loads no package. */
export type Day = string & { readonly __day: true }

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

/** True for a real calendar day in the form `YYYY-MM-DD`: `2026-02-30` is none. */
export function isDay(text: string): text is Day {
  if (!DAY_PATTERN.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`) // 30 February is 2 March
  return new Date(time).getUTCDate() === Number(text.slice(-2))
}
