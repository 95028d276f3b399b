import { join } from 'node:path'
import type { ReportFormat } from '../config/config.ts'
import { warehousePath } from '../lake/layout.ts'
import { packageRoot, version } from '../lib/package.ts'
import { loadMetrics } from '../model/index.ts'
import type { ReportRequest } from '../serve/report/read.ts'
import { reportPath, writeReport, type WrittenReport } from '../serve/report/report.ts'
import { timed, type RunContext } from './run-context.ts'

/** What the caller chooses of a report. */
type ReportChoice = Pick<ReportRequest, 'organisations' | 'withPeople' | 'now'>

/**
 * Writes a report on the published warehouse of a data folder to `path`.
 *
 * @throws UsageError as `readReport` does.
 */
export async function reportOn(
  dataFolder: string,
  choice: ReportChoice,
  format: ReportFormat,
  path: string,
): Promise<WrittenReport> {
  const metrics = await loadMetrics(join(packageRoot, 'dbt-like-models'))
  const request = { ...choice, warehouse: warehousePath(dataFolder), version }
  return writeReport({ ...request, metrics }, format, path)
}

/** A report on the published warehouse, in the data folder. */
export async function reportMarts(context: RunContext, format: ReportFormat): Promise<void> {
  const { config, world } = context
  const path = reportPath(config.dataFolder, format)
  const choice = { organisations: [], withPeople: config.report.people, now: world.now() }
  await timed(context, `report ${format}`, async () => {
    const { bytes } = await reportOn(config.dataFolder, choice, format, path)
    world.emit({ type: 'report.finished', path, bytes })
  })
}
