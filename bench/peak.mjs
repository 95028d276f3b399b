// Loaded before a measured command (`node --import`): writes its CPU time and memory to $BENCH_PEAK
// at its end.
import { readFileSync, writeFileSync } from 'node:fs'

process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  const taken = { peakBytes: peakBytes(), cpuSeconds: (user + system) / 1e6 }
  writeFileSync(process.env.BENCH_PEAK, JSON.stringify(taken))
})

/** The peak resident set. On Linux `maxRSS` may be the parent's, so the kernel's mark is read. */
function peakBytes() {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024
  } catch {
    return process.resourceUsage().maxRSS * 1024
  }
}
