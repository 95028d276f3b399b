import { join } from 'node:path'
import { packageRoot } from '../../../src/lib/package.ts'
import { loadMetrics } from '../../../src/model/project/metrics.ts'
import {
  reportData,
  DATASET_NAMES,
  type Organisation,
  type ReportData,
} from '../../../src/serve/report/data.ts'
import { definitionsOf } from '../../../src/serve/report/read.ts'
import { daysAfter, type View } from '../../../src/serve/report/view.ts'

/** What the project says of its metrics. */
export const METRICS = definitionsOf(await loadMetrics(join(packageRoot, 'dbt-like-models')))

const NOTHING = Object.fromEntries(DATASET_NAMES.map((name) => [name, []]))

/** An organisation with no rows but those given. */
export function organisation(rows: Partial<Organisation> = {}): Organisation {
  const row = {
    ...{ org_id: 'org_a', first_day: '2026-01-14', last_day: '2026-03-31' },
    ...{ data_through: '2026-03-31', missing_days: 0, failed_days: 0 },
    ...{ residual_checks_failed: 0, restatements_28d: 0, drift_findings: 0 },
    ...{ sessions_known_share: 1, has_more_sessions: false, verdict: 'complete' },
    ...{ are_settings_known: false, users_missing_28d: 0 },
  }
  return report([{ ...row, ...NOTHING, ...rows }]).organisations[0] ?? never()
}

/** What the page shows at first of an organisation with those rows, but for what is chosen. */
export function view(rows: Partial<Organisation> = {}, chosen: Partial<View> = {}): View {
  return { organisation: organisation(rows), days: 28, team: null, compare: 'previous', ...chosen }
}

export function report(organisations: readonly object[], withPeople = false): ReportData {
  const generatedAt = '2026-04-01T02:00:00.000Z'
  const organisationsInWarehouse = organisations.length
  const rest = {
    version: '1.2.3',
    generatedAt,
    organisationsInWarehouse,
    withPeople,
    metrics: METRICS,
  }
  return reportData.parse({ ...rest, organisations })
}

function never(): never {
  throw new Error('one organisation in, one out')
}

/** Weeks with these tool calls per message. */
export function ratios(...values: readonly (number | null)[]) {
  return values.map((ratio, at) => {
    return { week: daysAfter('2026-03-16', 7 * at), ratio, p50: null, p90: null }
  })
}
