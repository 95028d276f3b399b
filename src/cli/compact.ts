import { inSnakeCase } from '../lib/snake-case.ts'
import { size, counted, digits } from '../lib/text.ts'
import type { MergeTask } from '../lake/merge-files.ts'
import { aligned } from '../observe/words.ts'
import { compact, planOfMerges, type Merged } from '../pipeline/compact.ts'
import { dataCommand, flag, reportOptions, type Output } from './command.ts'
import { linesText } from '../serve/format.ts'
import { runJob } from './job.ts'

export const compactCommand = dataCommand({
  examples: {
    '$0 compact': 'run once a month: one file per resource and month instead of one per day',
    '$0 compact --dry-run': 'show what would be merged',
  },
  options: {
    ...reportOptions,
    'dry-run': flag('show what would be merged, and change nothing'),
  },
  run: (flags, terminal) => async (config) => {
    if (flags.dryRun) return planOutput(await planOfMerges(config.dataFolder, terminal.now()))
    return runJob({ ...flags, command: 'compact', config }, terminal, async (context) => {
      const { merged, ...outcome } = await compact(context)
      return { ...outcome, report: outputOf(merged) }
    })
  },
})

const NOTHING = 'Nothing to merge: no past month has several small files.\n'

function planOutput(tasks: readonly MergeTask[]): Output {
  const json = tasks.map(({ orgId, resource, month, sources, bytes }) => {
    return { org_id: orgId, resource, month, files: sources.length, bytes }
  })
  if (tasks.length === 0) return { json, text: NOTHING }
  const files = tasks.reduce((sum, { sources }) => sum + sources.length, 0)
  const rows = tasks.map(({ orgId, resource, month, sources, bytes }) => {
    return [`${resource} ${month} of ${orgId}`, counted(sources.length, 'file'), size(bytes)]
  })
  const total = `${counted(files, 'file')} would become ${digits(tasks.length)}:`
  return { json, text: linesText([total, ...aligned(rows).map((line) => `  ${line}`)]) }
}

function outputOf(merged: readonly Merged[]): Output & { json: object } {
  const sum = (of: (each: Merged) => number): number =>
    merged.reduce((total, each) => total + of(each), 0)
  const files = sum((each) => each.files)
  const before = sum((each) => each.bytesBefore)
  const after = sum((each) => each.bytesAfter)
  const json = {
    files_before: files,
    files_after: merged.length,
    bytes_before: before,
    bytes_after: after,
    merged: merged.map(inSnakeCase),
  }
  if (merged.length === 0) return { json, text: NOTHING }
  const sizes = `${size(after)} instead of ${size(before)}`
  const text = `Merged ${counted(files, 'file')} into ${digits(merged.length)}: ${sizes}.\n`
  return { json, text }
}
