import { z } from 'zod'
import { messageOf, UsageError } from '../../lib/errors.ts'
import type { Database, Row } from '../../lib/duckdb.ts'
import { grouped } from '../../lib/grouped.ts'
import { statement } from '../../lib/package.ts'
import { suggestion } from '../../lib/text.ts'
import type { Metric } from '../../model/project/shapes.ts'
import { openWarehouse, sqlMessage } from '../warehouse.ts'
import { DATASET_NAMES, reportData, type ReportData, type Definition } from './data.ts'
import { RANGES } from './view.ts'

export interface ReportRequest {
  /** The published warehouse's file. */
  readonly warehouse: string
  /** The ids of the only organisations; empty: the 20 with the highest spend. */
  readonly organisations: readonly string[]
  /** Whether people are named. */
  readonly withPeople: boolean
  /** The metrics of the project, which explain the charts. */
  readonly metrics: readonly Metric[]
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly version: string
  /** When it aborts, reading ends, and rejects with the reason. @default never */
  readonly signal?: AbortSignal
}

/**
 * Reads the input of a report from the published warehouse.
 *
 * @throws UsageError without a published warehouse, for a warehouse of another version, and for an
 *   unknown organisation.
 */
export async function readReport(request: ReportRequest): Promise<ReportData> {
  await using database = await openWarehouse(request.warehouse, request.signal)
  return await read(database, request).catch((error: unknown) => {
    if (!/^(Catalog|Binder) Error/.test(messageOf(error))) throw error
    throw new UsageError(`the published warehouse is of another version: ${sqlMessage(error)}`, {
      hint: 'Build it again: `agent-warehouse build`.',
      cause: error,
    })
  })
}

async function read(database: Database, request: ReportRequest): Promise<ReportData> {
  const { organisations: requested, withPeople, version } = request
  const all = await database.rows('select org_id from main.mart_data_health order by org_id')
  const known = new Set(all.map(idOf))
  const unknown = requested.find((id) => !known.has(id))
  if (unknown !== undefined) {
    const hint = suggestion(unknown, known)
    throw new UsageError(`the warehouse has no organisation '${unknown}'`, { hint })
  }
  const names = JSON.stringify(requested)
  await database.rows(statement('report/chosen'), { names, names_people: withPeople })
  const ranges = JSON.stringify(RANGES.map(([days]) => days))
  await database.rows(statement('report/ranges'), { ranges })
  for (const name of ['org_days', 'whole_weeks', 'hides', 'user_days'])
    await database.run(statement(`report/${name}`))
  const organisations = await database.rows('select * from chosen order by org_id')
  const datasets = new Map<string, ReadonlyMap<string, Row[]>>()
  for (const name of DATASET_NAMES)
    datasets.set(name, grouped(await database.rows(statement(`report/${name}`)), idOf))
  return reportData.parse({
    version,
    generatedAt: new Date(request.now).toISOString(),
    organisationsInWarehouse: known.size,
    withPeople,
    metrics: definitionsOf(request.metrics),
    organisations: organisations.map((row) => {
      const own = [...datasets].map(([name, rows]) => [name, rows.get(idOf(row)) ?? []] as const)
      return { ...row, ...Object.fromEntries(own) }
    }),
  })
}

function idOf(row: Row): string {
  return z.string().parse(row['org_id'])
}

/** The metrics that charts and headlines show. */
export function definitionsOf(metrics: readonly Metric[]): Definition[] {
  const labelOf = (name: string): string =>
    metrics.find((each) => each.name === name)?.label ?? name
  return metrics.map((metric) => ({
    ...{ name: metric.name, label: metric.label, unit: metric.unit },
    description: plain(metric.description),
    mistake: plain(metric.mistake),
    basis:
      'model' in metric
        ? `Of ${metric.model}, one row per ${metric.grain.join(', ')}`
        : `${labelOf(metric.numerator)} divided by ${labelOf(metric.denominator).toLowerCase()}, each over the whole period`,
  }))
}

function plain(markdown: string): string {
  return markdown.trim().replaceAll('`', '')
}
