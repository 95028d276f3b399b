import { join } from 'node:path'
import { writeAtomic } from '../../lib/files.ts'
import { digest } from './digest.ts'
import { trust } from './headlines.ts'
import { html } from './html.ts'
import { readReport, type ReportRequest } from './read.ts'

export type ReportFormat = 'html' | 'md'

/** Where a report of a data folder lies by default. */
export function reportPath(dataFolder: string, format: ReportFormat): string {
  return join(dataFolder, 'report', `report.${format}`)
}

/** A report that was written. */
export interface WrittenReport {
  readonly bytes: number
  /** Of each organisation, how far its data can be trusted, in words. */
  readonly verdicts: Readonly<Record<string, string>>
}

/**
 * Writes the report to `path`; a reader sees the earlier file or the new one.
 *
 * @throws UsageError as `readReport` does.
 */
export async function writeReport(
  request: ReportRequest,
  format: ReportFormat,
  path: string,
): Promise<WrittenReport> {
  const data = await readReport(request)
  const text = format === 'html' ? html(data) : digest(data)
  await writeAtomic(path, text)
  return {
    bytes: Buffer.byteLength(text),
    verdicts: Object.fromEntries(
      data.organisations.map((each) => [each.org_id, trust(each).verdict]),
    ),
  }
}
