/** Files are their owner's alone. */
export const OWNER_ONLY = 0o077

/**
 * The mask that `AGENT_WAREHOUSE_UMASK` names, which may open files to a group and
 * to nobody else (`027`: the group reads); undefined where it is no such mask.
 */
export function umaskOf(
  environment: Readonly<Record<string, string | undefined>>,
): number | undefined {
  const text = environment['AGENT_WAREHOUSE_UMASK']?.trim() ?? ''
  if (text === '') return OWNER_ONLY
  return /^0{0,2}[0-7]7$/.test(text) ? Number.parseInt(text, 8) : undefined
}
