import * as adoption from './adoption.ts'
import * as budget from './budget.ts'
import type { Chart } from './chart.ts'
import * as oversight from './oversight.ts'
import * as practice from './practice.ts'
import * as spend from './spend.ts'

export interface Section {
  readonly title: string
  readonly charts: readonly Chart[]
}

/** The charts in the order of the page and the digest. */
const CHARTS: Readonly<Record<string, readonly Chart[]>> = {
  Adoption: [
    ...[adoption.activeUsers, adoption.teamActivity, adoption.lifecycle, adoption.retention],
    ...[adoption.usageGroups, adoption.seats],
  ],
  Spend: [
    ...[spend.monthSpend, budget.forecast, budget.forecastErrors, budget.bridge],
    ...[spend.modelSpend, spend.teamSpend, spend.concentration, spend.cache, spend.efficiency],
  ],
  Practice: [
    ...[practice.autonomy, practice.autonomyLevels, practice.tools, practice.servers],
    practice.clients,
  ],
  Output: [practice.output, practice.readiness],
  Oversight: [
    ...[oversight.policy, oversight.allowedEmails, oversight.sessionRetention],
    ...[oversight.hookRecording, oversight.anomalies],
  ],
}

const PEOPLE = [practice.people, oversight.anomalyPeople, oversight.allowedPeople]

/** People are named only on request. */
export function sections(withPeople: boolean): Section[] {
  const charts = withPeople ? { ...CHARTS, People: PEOPLE } : CHARTS
  return Object.entries(charts).map(([title, own]) => ({ title, charts: own }))
}
