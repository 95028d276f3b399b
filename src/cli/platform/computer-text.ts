import { fieldOf } from '../../client/index.ts'
import type { Terminal } from '../command.ts'
import { fieldsText, listAt, tableText, timeOf } from './render.ts'

/** Computers, one a row. */
export function computersText(computers: readonly unknown[], terminal: Terminal): string {
  const rows = computers.map((each) => [
    fieldOf(each, 'id'),
    fieldOf(each, 'name'),
    fieldOf(each, 'status'),
    fieldOf(each, 'providerType'),
    fieldOf(each, 'hostname'),
    epochTime(fieldOf(each, 'createdAt')),
  ])
  const columns = ['id', 'name', 'status', 'provider', 'hostname', 'created_at']
  return tableText(columns, rows, terminal)
}

/** One computer with the steps of its provisioning. */
export function computerText(computer: unknown, terminal: Terminal): string {
  const header = fieldsText([
    ['id', fieldOf(computer, 'id')],
    ['name', fieldOf(computer, 'name')],
    ['status', fieldOf(computer, 'status')],
    ['provider', fieldOf(computer, 'providerType')],
    ['created at', epochTime(fieldOf(computer, 'createdAt'))],
    ['host', fieldOf(computer, 'hostId')],
    ['hostname', fieldOf(computer, 'hostname')],
    ['remote user', fieldOf(computer, 'remoteUser')],
    ['relay for clients', fieldOf(computer, 'relayClientUrl')],
    ['relay for agents', fieldOf(computer, 'relayAgentUrl')],
  ])
  const steps = listAt(computer, 'provisioningSteps').map((step) => [
    fieldOf(step, 'id'),
    fieldOf(step, 'status'),
    epochTime(fieldOf(step, 'startedAt')),
    epochTime(fieldOf(step, 'completedAt')),
    fieldOf(step, 'installSessionId'),
    fieldOf(step, 'error'),
  ])
  if (steps.length === 0) return header
  const columns = ['step', 'status', 'started_at', 'completed_at', 'install_session', 'error']
  return `${header}\n${tableText(columns, steps, terminal)}`
}

/** Samples as served: the units of memory and disk are not documented. */
export function metricsText(samples: readonly unknown[], terminal: Terminal): string {
  const rows = samples.map((sample) => [
    timeOf(fieldOf(sample, 'timestamp')),
    ...METRICS.map((name) => fieldOf(sample, name)),
  ])
  return tableText(['sampled_at', ...METRICS.map((number) => ({ number }))], rows, terminal)
}

const METRICS = ['cpuUsedPct', 'cpuCount', 'memUsed', 'memTotal', 'diskUsed', 'diskTotal']

/** A Unix time whose unit is not documented, told by its size, as sql/base tells it. */
function epochTime(value: unknown): unknown {
  if (typeof value !== 'number') return timeOf(value)
  if (value < 1e11) return timeOf(value * 1e3)
  if (value < 1e14) return timeOf(value)
  return timeOf(value < 1e17 ? value / 1e3 : value / 1e6)
}
