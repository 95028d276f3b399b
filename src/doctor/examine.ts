import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config, OrganisationConfig } from '../config/config.ts'
import { ExitCode } from '../lib/errors.ts'
import type { World } from '../lib/world.ts'
import { packageRoot } from '../lib/package.ts'
import { failure, ok, warning, wrong, type Finding } from './finding.ts'
import {
  checkDisk,
  checkKey,
  checkLock,
  checkWarehouse,
  checkPermissions,
  checkKept,
  checkSnapshots,
} from './folder.ts'
import { checkLake } from './lake.ts'
import { checkPlatform } from './platform.ts'
import type { DatabaseLimits } from '../lib/machine.ts'
import { size } from '../lib/text.ts'
import { spillFolder } from '../lib/spill.ts'

export interface Examination {
  /** @throws UsageError when the configuration cannot be used. */
  readonly loadConfig: () => Config
  /** Called before the first request. */
  readonly beforeAsking?: (organisations: readonly OrganisationConfig[]) => void
  readonly world: World
  /** Of the runtime, e.g. `20.19.0`. */
  readonly nodeVersion: string
  /** Read every file of the lake, too. */
  readonly isThorough: boolean
}

/**
 * Checks everything a run needs, changes nothing, and takes no lock: it may be
 * asked while a run is under way. One check that fails does not stop the others.
 */
export async function examine(examination: Examination): Promise<Finding[]> {
  const { world, nodeVersion, isThorough } = examination
  const node = checkNode(nodeVersion)
  const config = attempt('configuration', examination.loadConfig)
  if ('finding' in config) return [node, config.finding]
  const { dataFolder } = config.value
  const organisations = attempt('configuration', () => config.value.organisations())
  if ('value' in organisations) examination.beforeAsking?.(organisations.value)
  return [
    node,
    ...checkMachine(config.value),
    ...('finding' in organisations
      ? [organisations.finding]
      : await checkPlatforms(organisations.value, dataFolder, world)),
    ...(await checkFolder(config.value, world.now(), isThorough)),
  ]
}

async function checkFolder(
  { dataFolder, umask }: Config,
  now: number,
  isThorough: boolean,
): Promise<Finding[]> {
  const disk = await checkDisk(dataFolder)
  if (disk.some(({ state }) => state === 'wrong')) return disk
  return [
    ...disk,
    ...(await endured('lock', async () => [await checkLock(dataFolder, now)])),
    ...(await checkKey(dataFolder)),
    ...(await endured('permissions', () => checkPermissions(dataFolder, umask))),
    ...(await endured('files', () => checkLake(dataFolder, isThorough))),
    ...(await endured('warehouse', () => checkWarehouse(dataFolder))),
    ...(await endured('rollback', () => checkKept(dataFolder))),
    ...(await endured('snapshots', () => checkSnapshots(dataFolder))),
  ]
}

async function endured(check: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work()
  } catch (error) {
    return [failure(check, error, ExitCode.partial)]
  }
}

function attempt<T>(check: string, work: () => T): { value: T } | { finding: Finding } {
  try {
    return { value: work() }
  } catch (error) {
    return { finding: failure(check, error, ExitCode.usage) }
  }
}

async function checkPlatforms(
  organisations: readonly OrganisationConfig[],
  dataFolder: string,
  world: World,
): Promise<Finding[]> {
  const names = organisations.map(({ name }) => name).join(', ')
  const findings = [
    ok('configuration', `organisations: ${names}`),
    ...organisations.flatMap(({ keyWarning }) =>
      keyWarning === null ? [] : [warning('key file', keyWarning)],
    ),
  ]
  for (const each of organisations) findings.push(...(await checkPlatform(each, dataFolder, world)))
  return findings
}

const manifest = z.object({ engines: z.object({ node: z.string() }) })

function checkNode(version: string): Finding {
  const { engines } = manifest.parse(
    JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')),
  )
  if (engines.node.split('||').some((range) => isIn(version, range.trim()))) {
    return ok('node', version)
  }
  const hint = 'Install the current long-term release of Node.js.'
  return wrong('node', ExitCode.usage, `${version}, and it must be ${engines.node}`, hint)
}

/** Of the ranges that npm knows, the two that package.json uses: `^1.2.3` and `>=1.2.3`. */
function isIn(version: string, range: string): boolean {
  const [has = [], least = []] = [version, range].map((text) =>
    text
      .replace(/^[^\d]+/, '')
      .split('.')
      .map(Number),
  )
  if (range.startsWith('^') && has[0] !== least[0]) return false
  const differs = [0, 1, 2].find((part) => has[part] !== least[part])
  return differs === undefined || (has[differs] ?? 0) > (least[differs] ?? 0)
}

/** What a run may take of the machine, and what says so. */
function checkMachine({ limits, dataFolder }: Pick<Config, 'limits' | 'dataFolder'>): Finding[] {
  const { threads, memory, landing, base, build, query, spill } = limits
  const stages = { landing, build, query }
  const each = (of: (stage: DatabaseLimits) => string | number): string =>
    Object.entries(stages)
      .map(([name, stage]) => `${name} ${of(stage)}`)
      .join(', ')
  const bound =
    spill === null ? 'as far as the disk goes' : `at most ${size(spill)}, half of what is free`
  return [
    ok('threads', `${threads.value} (${threads.from}): ${each((stage) => stage.threads)}`),
    ok(
      'memory',
      `${size(memory.value)} for databases (${memory.from}): base ${base.memoryLimit}, ${each((stage) => stage.memoryLimit)}`,
    ),
    ok('spill', `${spillFolder(dataFolder)}, ${bound}`),
  ]
}
