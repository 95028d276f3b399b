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

/** The charts in the order of the page and the digest. People are named only on request. */
export function sections(withPeople: boolean): Section[] {
  return [
    {
      title: 'Adoption',
      charts: [
        ...[adoption.activeUsers, adoption.teamActivity, adoption.lifecycle, adoption.retention],
        ...[adoption.usageGroups, adoption.seats],
      ],
    },
    {
      title: 'Spend',
      charts: [
        ...[spend.monthSpend, budget.forecast, budget.forecastErrors, budget.bridge],
        ...[spend.modelSpend, spend.teamSpend, spend.concentration, spend.cache],
        spend.efficiency,
      ],
    },
    {
      title: 'Practice',
      charts: [
        ...[practice.autonomy, practice.autonomyLevels, practice.tools, practice.servers],
        practice.clients,
      ],
    },
    { title: 'Output', charts: [practice.output, practice.readiness] },
    {
      title: 'Oversight',
      charts: [
        ...[oversight.policy, oversight.allowedEmails, oversight.sessionRetention],
        ...[oversight.hookRecording, oversight.anomalies],
      ],
    },
    ...(withPeople
      ? [
          {
            title: 'People',
            charts: [practice.people, oversight.anomalyPeople, oversight.allowedPeople],
          },
        ]
      : []),
  ]
}
