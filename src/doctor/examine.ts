import type { Config, OrganisationConfig } from '../config/config.ts'
import { addressedEvent } from '../config/organisations.ts'
import { ExitCode } from '../lib/errors.ts'
import type { Warn, World } from '../lib/world.ts'
import { nodeVersions } from '../lib/package.ts'
import { failure, ok, warning, wrong, type Finding } from './finding.ts'
import {
  checkDisk,
  checkEarlier,
  checkKey,
  checkLake,
  checkLock,
  checkWarehouse,
  checkPermissions,
  checkSnapshots,
} from './folder.ts'
import { checkPlatform } from './platform.ts'
import type { DatabaseLimits } from '../lib/machine.ts'
import { mapLimit } from '../lib/concurrency.ts'
import { counted, size, someOf } from '../lib/text.ts'
import { listIfThere } from '../lib/files.ts'
import { join } from 'node:path'
import { spillFolder } from '../lib/spill.ts'

interface Examination {
  /** @throws UsageError if the configuration is invalid. */
  readonly loadConfig: () => Config
  /** Names of the organisations to check; absent or undefined: all. @throws UsageError */
  readonly organisations?: (config: Config) => readonly string[] | undefined
  /** @throws UsageError for a file of the user on which a night would fail. */
  readonly verifySeeds: (config: Config, warn: Warn) => Promise<void>
  /** @throws UsageError if there is no Spark. */
  readonly sparkVersion: (settings: Config['spark']) => Promise<string>
  readonly world: World
  /** For example `20.19.0`. */
  readonly nodeVersion: string
  /** Also reads every file of the lake. */
  readonly isThorough: boolean
}

/**
 * Checks everything that a run needs. Changes nothing and takes no lock, so it can be
 * called during a run. A check that fails does not stop the others.
 *
 * @throws DeferredError if a signal stops it.
 */
export async function examine(examination: Examination): Promise<Finding[]> {
  const { loadConfig, world, nodeVersion, isThorough } = examination
  const node = checkNode(nodeVersion)
  let config: Config
  try {
    config = loadConfig()
  } catch (error) {
    return [node, failure('configuration', error, ExitCode.usage)]
  }
  const { dataFolder, umask } = config
  const platforms = await examined('configuration', ExitCode.usage, () => {
    const organisations = config.organisations(examination.organisations?.(config))
    for (const each of organisations.filter((each) => each.isFromFile && each.problem === null)) {
      world.emit(addressedEvent(each))
    }
    return checkPlatforms(organisations, config, world)
  })
  const before = [node, ...checkMachine(config), ...platforms, ...(await checkDisk(dataFolder))]
  if (before.some(({ check, state }) => check === 'data folder' && state === 'wrong')) return before
  const rest: readonly (readonly [string, () => Promise<Finding[]>])[] = [
    ['lock', () => checkLock(dataFolder, world.now())],
    ['redaction', () => checkKey(dataFolder)],
    ['permissions', () => checkPermissions(dataFolder, umask)],
    ['seeds', () => checkSeeds(config, examination.verifySeeds)],
    ['engine', () => checkEngine(config, examination.sparkVersion)],
    ['files', () => checkLake(dataFolder, isThorough)],
    ['warehouse', () => checkWarehouse(dataFolder)],
    ['rollback', () => checkEarlier(dataFolder)],
    ['snapshots', () => checkSnapshots(dataFolder)],
  ]
  const findings = [before]
  for (const [check, work] of rest) {
    world.signal.throwIfAborted()
    const otherwise = check === 'redaction' ? ExitCode.usage : ExitCode.partial
    findings.push(await examined(check, otherwise, work))
  }
  return findings.flat()
}

/** The findings of a check; if it cannot be made, its error is a finding. */
async function examined(
  check: string,
  otherwise: ExitCode,
  work: () => Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return await work()
  } catch (error) {
    return [failure(check, error, otherwise)]
  }
}

async function checkPlatforms(
  organisations: readonly OrganisationConfig[],
  { dataFolder, organisationsAtOnce: atOnce, hosts }: Config,
  world: World,
): Promise<Finding[]> {
  const configured = hosts().map(({ name }) => name)
  const usable = organisations.filter(({ problem }) => problem === null)
  const names = usable.map(({ name }) => name)
  const findings = await mapLimit(organisations, atOnce, async (each) => {
    const own = await checkPlatform(each, configured, dataFolder, world)
    return organisations.length === 1 ? own : own.map((finding) => named(finding, each.name))
  })
  return [
    ...(names.length === 0 ? [] : [ok('configuration', `organisations: ${someOf(names, NAMED)}`)]),
    ...organisations.flatMap(({ keyWarning }) =>
      keyWarning === null ? [] : [warning('key file', keyWarning)],
    ),
    ...findings.flat(),
  ]
}

const NAMED = 20

/** Of several organisations, a message names its own. */
function named(finding: Finding, name: string): Finding {
  const { message } = finding
  const quoted = `'${name}'`
  return message.includes(quoted) ? finding : { ...finding, message: `${quoted}: ${message}` }
}

/** Whether there is the engine that a night builds with; DuckDB is part of the package. */
async function checkEngine(
  { engine, spark }: Config,
  versionOf: Examination['sparkVersion'],
): Promise<Finding[]> {
  return engine === 'spark' ? [ok('engine', `Spark ${await versionOf(spark)}`)] : []
}

/** Whether a night can read the user's files; no finding without files. */
async function checkSeeds(config: Config, verify: Examination['verifySeeds']): Promise<Finding[]> {
  const folder = join(config.dataFolder, 'seeds')
  const files = (await listIfThere(folder)).filter(({ name }) => /\.csv$/i.test(name)).length
  if (files === 0) return []
  const unused: Finding[] = []
  await verify(config, (message) => unused.push(warning('seeds', message)))
  return [ok('seeds', `${counted(files, 'file')} in ${folder} can be read`), ...unused]
}

function checkNode(version: string): Finding {
  const ranges = nodeVersions.split('||')
  if (ranges.some((range) => isIn(version, range.trim()))) return ok('node', version)
  const hint = 'Install the current long-term release of Node.js.'
  return wrong('node', ExitCode.usage, `${version}, and it must be ${nodeVersions}`, hint)
}

/** Supports the two kinds of ranges that package.json uses: `^1.2.3` and `>=1.2.3`. */
function isIn(version: string, range: string): boolean {
  const least = range.replace(/^[^\d]+/, '')
  const isNewer = version.localeCompare(least, 'en', { numeric: true }) >= 0
  return isNewer && (!range.startsWith('^') || parseInt(version) === parseInt(least))
}

function checkMachine({ limits, dataFolder }: Pick<Config, 'limits' | 'dataFolder'>): Finding[] {
  const { threads, memory, landing, base, build, query, spill } = limits
  const stages = { landing, build, query }
  const each = (of: (stage: DatabaseLimits) => string | number): string =>
    Object.entries(stages)
      .map(([name, stage]) => `${name} ${of(stage)}`)
      .join(', ')
  const most = `${size(memory.value)} for databases (${memory.from})`
  const bound =
    spill === null ? 'limited only by the disk' : `at most ${size(spill)}, half of the free space`
  return [
    ok('threads', `${threads.value} (${threads.from}): ${each((stage) => stage.threads)}`),
    ok('memory', `${most}: base ${base.memoryLimit}, ${each((stage) => stage.memoryLimit)}`),
    ok('spill', `${spillFolder(dataFolder)}, ${bound}`),
  ]
}
