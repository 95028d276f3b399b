import { execFileSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { command } from '../support/command.ts'
import { startFaultyPlatform } from '../support/faults.ts'
import { sendJson, testServer } from '../support/helpers.ts'
import { startRunner, type NightOptions } from './nightly-runner.ts'

/** A tracked seed, and its first line. */
export const EVENTS = 'data/seeds/events.csv'
export const HEADER = 'event_date,name,description,team\n'
const KEY = '5e'.repeat(32)
/** The request for the archives of the branch. */
const ARCHIVES = '/actions/caches?key=agent-warehouse-archive-&ref=refs%2Fheads%2Fmain'

/** A platform, the API's response about the repository, and a runner with its secrets. */
export async function stage(
  repository: object | null = { private: true, visibility: 'private' },
  caches: object | null = {},
) {
  const platform = await startFaultyPlatform({
    now: () => Date.parse('2026-01-20T05:00:00Z'),
    users: 3,
  })
  const runner = await startRunner()
  const github = await testServer(({ url = '', headers }, response) => {
    const isCaches = url.endsWith(ARCHIVES)
    const answer = isCaches ? caches && { total_count: runner.archives(), ...caches } : repository
    const isKnown = headers.authorization === 'Bearer ghs_token'
    sendJson(response, isKnown && answer !== null ? 200 : 404, answer ?? {})
  })
  const options: NightOptions = {
    secrets: { AGENT_API_KEY: platform.emulator.keys.manager, AGENT_WAREHOUSE_REDACTION_KEY: KEY },
    vars: { AGENT_BASE_URL: platform.url },
    environment: { GITHUB_API_URL: github.url },
    tracked: { [EVENTS]: HEADER },
  }
  return { platform, runner, options, ...runner }
}

/** The names of the files in the cached archive. */
export function archived(cache: string): string[] {
  const list = execFileSync('tar', ['-tzf', join(cache, 'data.tar.gz')], { encoding: 'utf8' })
  return list.split('\n').filter((name) => name !== '' && !name.endsWith('/'))
}

/** Queries the warehouse of a night. */
export function query(workspace: string, sql: string) {
  const data = join(workspace, 'data')
  return command(['query', sql, '--format', 'csv'], { AGENT_WAREHOUSE_DATA: data })
}

/** Puts a stub in place of the compiled command. */
export function commandIs(program: string): (workspace: string) => Promise<void> {
  return async (workspace) => {
    await rm(join(workspace, 'dist'))
    await mkdir(join(workspace, 'dist', 'cli'), { recursive: true })
    await writeFile(join(workspace, 'dist', 'cli', 'main.js'), program)
  }
}
