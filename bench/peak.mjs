// Loaded before a measured command (`node --import`): at its end, writes what it took to $BENCH_PEAK.
import { readFileSync, writeFileSync } from 'node:fs'

process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  const taken = { peakBytes: peakBytes(), cpuSeconds: (user + system) / 1e6 }
  writeFileSync(process.env.BENCH_PEAK, JSON.stringify(taken))
})

/** The largest resident set so far. On Linux `maxRSS` may be the parent's, so the kernel's own mark is read. */
function peakBytes() {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024
  } catch {
    return process.resourceUsage().maxRSS * 1024
  }
}
