import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import { runJob } from '../../src/cli/job.ts'
import { run } from '../../src/pipeline/run.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { LedgerFile } from '../../src/lake/ledger.ts'
import { kindsOfFiles, martsOf, versionsOf } from '../flows/contents.ts'
import {
  courseOf,
  environmentOf,
  killAfter,
  killAt,
  type Command,
  type Course,
  type Point,
} from './victim.ts'

/** The command to kill, and the state to expect after the next run. */
export interface Scenario {
  readonly command: Command
  /** The data folder that it begins with; null: none. */
  readonly before: string | null
  readonly course: Course
  readonly truth: State
}

/** What a data folder must have in common with that of an undisturbed run. */
export type State = Readonly<Record<string, string>>

/** Runs the command undisturbed, from the same beginning. */
export async function scenarioOf(command: Command, before: string | null): Promise<Scenario> {
  return inFolder(before, async (folder) => {
    const course = await courseOf(command, folder)
    await nextRun(command, folder)
    return { command, before, course, truth: await stateOf(folder) }
  })
}

/** Kills at each point, each from the start. @returns the differences after the next run. */
export async function brokenAt(scenario: Scenario, points: readonly Point[]): Promise<string[]> {
  return inPairs(points, async (point) => {
    const { site, nth, when } = point
    for (let earlier = nth; earlier > 0; earlier = Math.floor(earlier * 0.7)) {
      const broken = await brokenAfter(scenario, (folder) =>
        killAt(scenario.command, folder, { ...point, nth: earlier }),
      )
      if (broken !== null) return broken.map((what) => `${when} #${earlier} of ${site}: ${what}`)
    }
    return [`never came to ${site}`] // writes made together are not as many in every run
  })
}

/** Kills after each of some times, or half of it where the command has ended by then. */
export async function brokenAfterTimes(
  scenario: Scenario,
  times: readonly number[],
): Promise<string[]> {
  return inPairs(times, async (time) => {
    for (let ms = time; ; ms /= 2) {
      const kill = (folder: string): Promise<boolean> => killAfter(scenario.command, folder, ms)
      const broken = await brokenAfter(scenario, kill)
      if (broken !== null) return broken.map((what) => `after ${ms} ms: ${what}`)
    }
  })
}

/** Null when the command was not killed. */
async function brokenAfter(
  { command, before, truth }: Scenario,
  kill: (folder: string) => Promise<boolean>,
): Promise<string[] | null> {
  return inFolder(before, async (folder) => {
    if (!(await kill(folder))) return null
    const { exitCode, out } = await nextRun(command, folder)
    if (exitCode !== 0) return [`the next run ended with ${exitCode}`]
    if (out.includes('is not the file that was published')) return [`the next run says: ${out}`]
    return differences(truth, await stateOf(folder))
  })
}

/** The command once more, undisturbed; `run` in this process, whose modules are loaded. */
async function nextRun(command: Command, dataFolder: string): Promise<Ending> {
  if (command.args[0] === 'run') return nextNight(command, dataFolder)
  await courseOf(command, dataFolder)
  return { exitCode: 0, out: '' }
}

interface Ending {
  readonly exitCode: number
  /** Its summary, of a `run`. */
  readonly out: string
}

async function nextNight(command: Command, dataFolder: string): Promise<Ending> {
  let out = ''
  const environment = environmentOf(command, dataFolder)
  const terminal = {
    out: (text: string) => {
      out += text
    },
    data: () => undefined,
    err: () => undefined,
    draw: () => undefined,
    isTty: false,
    columns: () => 80,
    outWidth: undefined,
    hasColour: false,
    ask: null,
    environment,
    cwd: dataFolder,
    now: () => Date.now(),
  }
  const config = loadConfig({}, environment, dataFolder)
  const maxDurationMs = 3_600_000
  const exitCode = await runJob(
    { command: 'run', config, log: 'none', json: false, maxDurationMs, organisations: [] },
    terminal,
    (job, runs) => run(job, {}, runs),
  )
  return { exitCode, out }
}

async function stateOf(dataFolder: string): Promise<State> {
  const marts = Object.entries(await martsOf(dataFolder))
  const ledger = [...(await LedgerFile.read(dataFolder, 'org_demo'))]
  const state: Record<string, string> = {}
  for (const [name, digest] of marts) state[`mart ${name}`] = digest
  for (const [key, { status, rowCount, versions, digest }] of ledger) {
    const rows = `${status}, ${rowCount ?? 0} rows`
    state[`interval ${key}`] = `${rows}, ${versions} versions, ${digest ?? ''}`
  }
  for (const version of await versionsOf(dataFolder)) state[`version ${version}`] = 'there'
  for (const file of await kindsOfFiles(dataFolder)) state[`file ${file}`] = 'there'
  return state
}

function differences(truth: State, found: State): string[] {
  const keys = [...new Set([...Object.keys(truth), ...Object.keys(found)])]
  return keys
    .filter((key) => truth[key] !== found[key])
    .map((key) => `${key}: ${truth[key] ?? 'nothing'} ≠ ${found[key] ?? 'nothing'}`)
}

/** A folder with the content of another, gone when the work is done. */
async function inFolder<T>(
  content: string | null,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-warehouse-kill-'))
  try {
    if (content !== null) await cp(content, folder, { recursive: true })
    // With a key of its own each folder would mark the same secret differently.
    await writeAtomic(join(folder, 'state', 'redaction.key'), `${'5e'.repeat(32)}\n`)
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Two at a time. */
async function inPairs<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<readonly R[]>,
): Promise<R[]> {
  const queue = items.values()
  const results: R[] = []
  const worker = async (): Promise<void> => {
    for (const item of queue) results.push(...(await work(item)))
  }
  await Promise.all([worker(), worker()])
  return results
}
