import { UsageError } from '../errors.ts'

/** Holds the key of redaction where the data folder is not to have it. */
export const REDACTION_KEY_VARIABLE = 'AGENT_WAREHOUSE_REDACTION_KEY'

/** Null where the variable is not set. @throws UsageError for a key that could be guessed. */
export function redactionKeyIn(
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  const key = environment[REDACTION_KEY_VARIABLE]?.trim() ?? ''
  if (key === '') return null
  if (key.length >= 32) return key
  throw new UsageError(`${REDACTION_KEY_VARIABLE} has fewer than 32 characters`, {
    hint: 'Make one with: openssl rand -hex 32. To keep the marks of before, take the content of state/redaction.key.',
  })
}
