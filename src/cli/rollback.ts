import { ExitCode } from '../lib/errors.ts'
import { rollback } from '../pipeline/rollback.ts'
import { listPublished, type PublishedFile } from '../serve/rollback.ts'
import { size } from '../lib/text.ts'
import { toSecond } from '../observe/words.ts'
import {
  configured,
  dataOptions,
  defineCommand,
  jsonOf,
  jsonOption,
  logOption,
  text,
} from './command.ts'
import { runJob } from './job.ts'

export const rollbackCommand = defineCommand({
  examples: [
    ['$0 rollback', 'publish the warehouse that was there before'],
    ['$0 rollback --list', 'the published file and the earlier ones that are kept'],
  ],
  options: {
    ...dataOptions,
    ...logOption,
    ...jsonOption,
    list: {
      type: 'boolean',
      describe: 'show the published file (*) and the earlier ones, and change nothing',
    },
    to: {
      ...text('the run that built the file, or how its id begins (default: the one before)'),
      conflicts: 'list',
    },
  },
  run: async (flags, terminal) => {
    const config = configured(flags, terminal)
    if (flags.list === true) {
      const files = await listPublished(config.dataFolder)
      terminal.out(flags.json ? jsonOf(files.map(toJson)) : toText(files))
      return ExitCode.complete
    }
    return runJob({ ...flags, command: 'rollback', config }, terminal, (context) =>
      rollback(context, flags.to),
    )
  },
})

function toJson({ runId, builtAt, bytes, path, isPublished, problem }: PublishedFile): object {
  return { run_id: runId, built_at: builtAt, bytes, path, is_published: isPublished, problem }
}

function toText(files: readonly PublishedFile[]): string {
  if (files.length === 0) return 'Nothing is published yet.\n'
  const lines = files.map(({ runId, builtAt, bytes, isPublished, problem }) => {
    const mark = isPublished ? '*' : ' '
    const note = isPublished ? '  published' : ''
    const broken = problem === null ? '' : `  cannot be put back: ${problem}`
    return `${mark} ${runId}  built ${builtAt === null ? '(unknown)' : toSecond(builtAt)}  ${size(bytes)}${note}${broken}\n`
  })
  return lines.join('')
}
