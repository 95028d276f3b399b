import { join } from 'node:path'
import type { Config, ExportTarget, ReportFormat } from '../config/config.ts'
import { warehousePath } from '../lake/layout.ts'
import { packageRoot, version } from '../lib/package.ts'
import { listModels } from '../model/project/compile.ts'
import { loadMetrics } from '../model/project/metrics.ts'
import { docsHtml } from '../serve/docs/html.ts'
import { readPublished } from '../serve/docs/read.ts'
import { exportTables } from '../serve/export/export.ts'
import { writeAtomic } from '../lib/files.ts'
import type { ReportRequest } from '../serve/report/read.ts'
import { reportPath, writeReport, type WrittenReport } from '../serve/report/report.ts'
import { projectOf, timed, type RunContext } from './run-context.ts'

/** The marts of the published warehouse as files. */
export async function exportMarts(context: RunContext, target: ExportTarget): Promise<void> {
  const { config, world, runId } = context
  await timed(context, `export ${target}`, () =>
    exportTables({
      warehouse: warehousePath(config.dataFolder),
      target,
      folder: join(config.dataFolder, 'exports'),
      runId,
      now: world.now,
      emit: world.emit,
      signal: world.signal,
    }),
  )
}

/**
 * Writes a report on the published warehouse of a data folder to `path`.
 *
 * @throws UsageError as `readReport` does.
 */
export async function reportOn(
  dataFolder: string,
  choice: Pick<ReportRequest, 'organisations' | 'withPeople' | 'now' | 'signal'>,
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
  const { signal } = world
  const choice = { organisations: [], withPeople: config.report.people, now: world.now(), signal }
  await timed(context, `report ${format}`, async () => {
    const { bytes } = await reportOn(config.dataFolder, choice, format, path)
    world.emit({ type: 'report.finished', path, bytes })
  })
}

/**
 * Writes the documentation of the models, and of what is published of them, as one HTML file,
 * unless the signal aborts before.
 *
 * @throws UsageError when there is no warehouse, or when it cannot be read; ProjectError.
 */
export async function writeDocs(
  config: Config,
  path: string,
  warn: (message: string) => void,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly models: number }> {
  const project = await projectOf(config, warn)
  const models = listModels(project)
  const { metrics } = project
  const published = await readPublished(warehousePath(config.dataFolder), signal)
  const text = docsHtml({ models, metrics }, published)
  await writeAtomic(path, text)
  return { bytes: Buffer.byteLength(text), models: models.length }
}
