import { activeFrom, type ComputerRecord } from './computers.ts'
import { badRequest } from './problems.ts'
import { derive, draw } from './random.ts'

const EVERY = 5 * 60_000
const HOUR = 3_600_000
/** Without `start`: the last day. Older samples are not kept. */
const ASKED = 24 * HOUR
const KEPT = 72 * HOUR
const GIB = 1_073_741_824

/**
 * Samples of a computer, every five minutes or so since it is active.
 * @throws Refusal 400 for a `start` that is no time.
 */
export function metricsAnswer(
  computer: ComputerRecord,
  now: number,
  query: URLSearchParams,
): readonly object[] {
  const start = startOf(query, now)
  const from = Math.max(start, now - KEPT, activeFrom(computer))
  if (!Number.isFinite(from)) return []
  const samples: object[] = []
  for (let tick = Math.floor(from / EVERY); tick * EVERY <= now; tick += 1) {
    const at = sampledAt(computer, tick)
    if (at >= from && at <= now) samples.push(sampleOf(computer, tick, at))
  }
  return samples
}

function startOf(query: URLSearchParams, now: number): number {
  const text = query.get('start')
  if (text === null) return now - ASKED
  const start = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(start)) throw badRequest(`start '${text}' is not an ISO 8601 date-time`)
  return start
}

/** Some seconds after its five minutes are full. */
function sampledAt({ key }: ComputerRecord, tick: number): number {
  return tick * EVERY + Math.floor(draw(derive(key, tick), 1) * 20_000)
}

function sampleOf({ key }: ComputerRecord, tick: number, at: number): object {
  const unit = (stream: number): number => draw(derive(key, tick), stream)
  const memTotal = 16 * GIB
  const diskTotal = 200 * GIB
  return {
    timestamp: new Date(at).toISOString(),
    cpuUsedPct: Number((unit(2) * 100).toFixed(2)),
    cpuCount: 8,
    memUsed: Math.floor(memTotal * (0.2 + 0.6 * unit(3))),
    memTotal,
    diskUsed: Math.floor(diskTotal * (0.3 + (tick % 2_000) / 4_000)),
    diskTotal,
  }
}
