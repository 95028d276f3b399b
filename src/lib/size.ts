const UNITS = ['kB', 'MB', 'GB', 'TB']

/** Of bytes, in powers of a thousand, to two digits at least: `512 B`, `1.2 MB`, `20 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`
  const power = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3))
  const amount = bytes / 1000 ** power
  const shown = amount < 9.95 ? amount.toFixed(1) : String(Math.round(amount))
  // 999.6 kB is 1.0 MB, not 1000 kB.
  if (shown === '1000' && power < UNITS.length) return size(1000 ** (power + 1))
  return `${shown} ${UNITS[power - 1] ?? 'TB'}`
}
