import { lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { FOLDERS, REPORT_FORMATS } from '../config/config.ts'
import { readOrganisations } from '../lake/organisations.ts'
import { refuseTilde } from '../lib/disk.ts'
import { UsageError } from '../lib/errors.ts'
import { size, splitNames } from '../lib/text.ts'
import { reportOn, writeDocs } from '../pipeline/serve.ts'
import { reportPath } from '../serve/report/report.ts'
import { dataCommand, flag, jsonOption, text, texts } from './command.ts'
import { stoppable } from './signals.ts'

export const reportCommand = dataCommand({
  examples: {
    '$0 report': 'write one HTML file with charts, which needs no network',
    '$0 report --format md': 'write the findings as Markdown, for chat or e-mail',
    '$0 report --people': 'name the people who spent most',
  },
  options: {
    ...jsonOption,
    format: {
      choices: REPORT_FORMATS,
      default: 'html' as const,
      describe: 'html: charts; md: the findings of the last 4 weeks as text',
    },
    org: texts('name or org_id of an organisation; repeat it, or use commas, for several'),
    people: flag('name people; small teams and cohorts stay hidden'),
    out: text('file to write (default: report/report.html or report.md in the data folder)'),
  },
  run:
    (flags, terminal) =>
    async ({ dataFolder }) => {
      const path = outputPath(flags, terminal, dataFolder) ?? reportPath(dataFolder, flags.format)
      const choice = {
        organisations: await orgIdsOf(dataFolder, flags.org ?? []),
        withPeople: flags.people,
        now: terminal.now(),
      }
      const { bytes, verdicts } = await stoppable((signal) =>
        reportOn(dataFolder, { ...choice, signal }, flags.format, path),
      )
      const trusted = Object.entries(verdicts).map(([org, verdict]) => `  ${org}: ${verdict}\n`)
      return {
        json: { path, format: flags.format, bytes, verdicts },
        text: `The report is in ${path} (${size(bytes)}).\n${trusted.join('')}`,
      }
    },
})

/** The ids of the organisations that `--org` names. Any other text is taken as ids. */
async function orgIdsOf(dataFolder: string, values: readonly string[]): Promise<string[]> {
  if (values.length === 0) return []
  const known = await readOrganisations(dataFolder)
  const ids = [...known.values()].map(({ orgId }) => orgId)
  const names = splitNames(values, new Set([...known.keys(), ...ids]))
  return [...new Set(names.map((name) => known.get(name)?.orgId ?? name))]
}

export const docsCommand = dataCommand({
  examples: {
    '$0 docs': 'write one HTML file that needs no network',
    '$0 docs --out public/index.html': 'write it to the folder of a static site',
  },
  options: {
    ...jsonOption,
    out: text('file to write (default: <data>/docs/index.html)'),
  },
  run: (flags, terminal) => async (config) => {
    const { dataFolder } = config
    const path = outputPath(flags, terminal, dataFolder) ?? join(dataFolder, 'docs', 'index.html')
    const warn = (message: string): void => {
      terminal.err(`${message}\n`)
    }
    const written = await stoppable((signal) => writeDocs(config, path, warn, signal))
    return {
      json: { path, ...written },
      text: `The documentation of ${written.models} models is in ${path} (${size(written.bytes)}).\n`,
    }
  },
})

/** What commands may write in the data folder at a path of the user. */
const FOR_OUTPUT = ['report', 'docs', 'exports']

/**
 * The file in `--out`; undefined without the option.
 *
 * @throws UsageError for a file in the data folder that another command owns, and for what is no
 * file, such as a folder, `/dev/stdout` or a link to nothing.
 */
function outputPath(
  { out }: { readonly out?: string | undefined },
  { cwd }: { readonly cwd: string },
  dataFolder: string,
): string | undefined {
  if (out === undefined) return undefined
  const path = resolve(cwd, out)
  refuseTilde(path, '--out:')
  const present = lstatSync(path, { throwIfNoEntry: false })
  const isOther =
    present !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() !== true
  if (isOther || out.endsWith('/')) {
    throw new UsageError(`--out: ${path} is not a file`, { hint: 'Name a file to write.' })
  }
  const within = real(path)
  const toWrite = present?.isSymbolicLink() === true ? within : path // a link would be replaced
  const folder = `${real(dataFolder)}${sep}`
  if (!within.startsWith(folder)) return toWrite
  const [first = '', ...below] = within.slice(folder.length).split(sep)
  const isOwned = FOLDERS.includes(first) || first.startsWith('warehouse.duckdb')
  const isFree = below.length === 0 ? !isOwned : FOR_OUTPUT.includes(first)
  if (isFree) return toWrite
  throw new UsageError(`--out: ${path} is a file of the data folder`, {
    hint: `Name a file outside, or below ${FOR_OUTPUT.map((name) => join(dataFolder, name)).join(', ')}.`,
  })
}

/** The path with links resolved, as far as it exists. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(real(dirname(path)), basename(path))
  }
}
