import { spawn } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { load } from 'js-yaml'
import { z } from 'zod'
import { packageRoot } from '../../src/lib/package.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { MACHINE } from '../support/machine.ts'

/** The parts of a workflow that this runner supports. It refuses any other, which would go untested. */
const stepSchema = z.strictObject({
  name: z.string().optional(),
  id: z.string().optional(),
  if: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  env: z.record(z.string(), z.string()).optional(),
})

const workflowSchema = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  concurrency: z.strictObject({ group: z.string(), 'cancel-in-progress': z.boolean() }),
  permissions: z.record(z.string(), z.string()),
  jobs: z.strictObject({
    nightly: z.strictObject({
      'runs-on': z.string(),
      'timeout-minutes': z.number(),
      env: z.record(z.string(), z.union([z.string(), z.number()])),
      steps: z.array(stepSchema),
    }),
  }),
})

/** The inputs of actions that this runner supports. */
const INPUTS: Readonly<Record<string, readonly string[]>> = {
  'actions/checkout': ['persist-credentials'],
  'actions/setup-node': ['node-version', 'cache'],
  'actions/cache/restore': ['path', 'key'],
  'actions/cache/save': ['path', 'key'],
  'actions/upload-artifact': ['name', 'path', 'if-no-files-found', 'retention-days'],
}

type Step = z.infer<typeof stepSchema>

export interface NightOptions {
  readonly secrets?: Readonly<Record<string, string>>
  readonly vars?: Readonly<Record<string, string>>
  /** In the environment of every step. */
  readonly environment?: Readonly<Record<string, string>>
  /** Tracked files of the commit that is checked out, by path. */
  readonly tracked?: Readonly<Record<string, string>>
  /** Called with the workspace before the first step that runs a command. */
  readonly prepare?: (workspace: string) => Promise<void>
  /** The action reports that it could not restore the cache as a miss, and succeeds. */
  readonly isCacheDown?: boolean
  /** Above 1 it repeats the run of the last night. */
  readonly attempt?: number
}

export interface NightResult {
  readonly conclusion: 'success' | 'failure'
  /** The outcome of each step by name; a skipped step is absent. */
  readonly outcomes: Readonly<Record<string, 'success' | 'failure'>>
  /** The output of the steps, in the order in which the runner reads it. */
  readonly log: string
  readonly summary: string
  readonly workspace: string
}

/** The workflow, as far as the runner supports it. */
export async function readWorkflow() {
  const path = join(packageRoot, '.github', 'workflows', 'nightly.yml')
  return workflowSchema.parse(load(await readFile(path, 'utf8')))
}

/** A runner of GitHub Actions as far as nightly.yml needs one: fresh checkouts, a cache, artifacts. */
export async function startRunner() {
  const root = await temporaryFolder()
  const cache = join(root, 'cache')
  const artifacts = join(root, 'artifacts')
  const job = (await readWorkflow()).jobs.nightly
  /** The keys of the cache. None is written twice, as on GitHub; `cache` holds the last one. */
  const saved: string[] = []
  let count = 0

  const night = async (options: NightOptions): Promise<NightResult> => {
    const { attempt = 1 } = options
    if (attempt === 1) count += 1
    const home = join(root, `night-${count}-${attempt}`)
    const workspace = join(home, 'workspace')
    const temp = join(home, 'temp')
    const summary = join(home, 'summary.md')
    await mkdir(temp, { recursive: true })
    await writeFile(summary, '')
    await rm(artifacts, { recursive: true, force: true })
    const outcomes: Record<string, 'success' | 'failure'> = {}
    const byId: Record<string, string> = {}
    let log = ''
    const context: Record<string, Readonly<Record<string, string>>> = {
      github: {
        workspace,
        token: 'ghs_token',
        run_id: String(count),
        run_attempt: String(attempt),
      },
      secrets: options.secrets ?? {},
      vars: options.vars ?? {},
    }
    const expand = (text: string): string =>
      text.replaceAll(/\$\{\{ (\w+)\.(\w+) \}\}/g, (_, of: string, name: string) => {
        return context[of]?.[name] ?? ''
      })
    const environmentOf = (step: Step): Record<string, string> => {
      const given = Object.entries({ ...job.env, ...step.env })
      return {
        PATH: [join(home, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
        HOME: home,
        RUNNER_TEMP: temp,
        GITHUB_STEP_SUMMARY: summary,
        GITHUB_REPOSITORY: 'acme/usage',
        GITHUB_REF: 'refs/heads/main',
        AGENT_WAREHOUSE_RATE: '2000',
        ...MACHINE,
        ...Object.fromEntries(given.map(([name, value]) => [name, expand(String(value))])),
        ...options.environment,
      }
    }
    const inputOf = ({ with: inputs }: Step, name: string): string =>
      expand(String(inputs?.[name] ?? ''))
    const actions: Record<string, (step: Step) => Promise<void>> = {
      'actions/checkout': async () => {
        await checkOut(workspace, options.tracked ?? {})
        await stubNpm(join(home, 'bin'))
        await options.prepare?.(workspace)
      },
      'actions/setup-node': () => Promise.resolve(),
      'actions/cache/restore': async (step) => {
        if (options.isCacheDown === true || !existsSync(cache)) return
        const wanted = inputOf(step, 'key')
        if (saved.includes(wanted)) throw new Error('this runner restores only the newest archive')
        if (saved.at(-1)?.startsWith(wanted) === true)
          await copy(cache, join(workspace, inputOf(step, 'path')))
      },
      'actions/cache/save': async (step) => {
        const key = inputOf(step, 'key')
        if (saved.includes(key)) return
        await rm(cache, { recursive: true, force: true })
        await copy(join(workspace, inputOf(step, 'path')), cache)
        saved.push(key)
      },
      'actions/upload-artifact': async (step) => {
        const pattern = join(workspace, inputOf(step, 'path'))
        const names = existsSync(dirname(pattern)) ? await readdir(dirname(pattern)) : []
        for (const name of names) {
          if (name.startsWith(basename(pattern).replace('*', '')))
            await copy(join(dirname(pattern), name), join(artifacts, name))
        }
      },
    }
    const perform = async (step: Step): Promise<boolean> => {
      if (step.run === undefined) {
        await actions[actionOf(step)]?.(step)
        return true
      }
      const { code, output } = await shell(step.run, workspace, environmentOf(step))
      log += output
      return code === 0
    }
    for (const step of job.steps) {
      if (!isDue(step, Object.values(outcomes).includes('failure'), byId)) continue
      const outcome = (await perform(step)) ? 'success' : 'failure'
      outcomes[step.name ?? step.uses ?? ''] = outcome
      if (step.id !== undefined) byId[step.id] = outcome
    }
    const conclusion = Object.values(outcomes).includes('failure') ? 'failure' : 'success'
    return { conclusion, outcomes, log, summary: await readFile(summary, 'utf8'), workspace }
  }
  return { night, cache, artifacts, archives: () => (existsSync(cache) ? saved.length : 0) }
}

/** The action that a step uses. @throws for one, or an input of one, that the runner does not know. */
function actionOf(step: Step): string {
  const action = step.uses?.split('@')[0] ?? ''
  const known = INPUTS[action]
  const unknown = Object.keys(step.with ?? {}).filter((name) => known?.includes(name) !== true)
  if (known === undefined || unknown.length > 0)
    throw new Error(`this runner does not know ${action} with ${unknown.join(', ') || 'nothing'}`)
  return action
}

/** `!cancelled() && steps.x.outcome == 'success'`, or nothing: only while no step has failed. */
function isDue(step: Step, hasFailed: boolean, byId: Readonly<Record<string, string>>): boolean {
  if (step.if === undefined) return !hasFailed
  const [, id] =
    /^\$\{\{ !cancelled\(\) && steps\.(\w+)\.outcome == 'success' \}\}$/.exec(step.if) ?? []
  if (id === undefined) throw new Error(`this runner does not know the condition ${step.if}`)
  return byId[id] === 'success'
}

/** A checkout of the package, with its compiled files and dependencies. */
async function checkOut(
  workspace: string,
  tracked: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(workspace)
  for (const name of ['.github', 'dist', 'node_modules', 'sql', 'dbt-like-models', 'package.json'])
    await symlink(join(packageRoot, name), join(workspace, name))
  for (const [path, text] of Object.entries(tracked)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true })
    await writeFile(join(workspace, path), text)
  }
}

/** The dependencies are installed and the code is compiled already. */
async function stubNpm(folder: string): Promise<void> {
  await mkdir(folder)
  await writeFile(join(folder, 'npm'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
}

/** Copies files with their times, as a cache and an artifact do. */
async function copy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await cp(from, to, { recursive: true, preserveTimestamps: true })
}

/** Runs the script of a step as the runner does, with both streams in the order of the writes. */
function shell(
  script: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-e', '-c', script], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ code, output })
    })
  })
}

/** The commands that a runner finds in a log: a line that begins with `::`, unless they are stopped. */
export function commandsIn(log: string): string[] {
  const found: string[] = []
  let stoppedBy: string | undefined
  for (const line of log.split(/\r\n|\n|\r/)) {
    const [, name, value = ''] =
      /^\s*::([^:]+?)::(.*)$/.exec(line) ?? /^\s*::(.*?)::$/.exec(line) ?? []
    if (name === undefined) continue
    if (stoppedBy !== undefined) {
      if (name === stoppedBy) stoppedBy = undefined
    } else if (name === 'stop-commands') stoppedBy = value
    else found.push(line)
  }
  return found
}
