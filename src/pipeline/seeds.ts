import type { Config } from '../config/config.ts'
import { readSeed } from '../extract/entities/session-ids.ts'
import { Database } from '../lib/duckdb.ts'
import type { Warn } from '../lib/world.ts'
import { loadSeed } from '../model/project/seeds.ts'
import { projectOf } from './run-context.ts'

/**
 * Reads the files in `<data>/seeds/` as a night does.
 *
 * @throws UsageError, which names file and line, for a file on which a night would fail.
 */
export async function verifySeeds(config: Config, warn: Warn): Promise<void> {
  const { seeds } = await projectOf(config, warn)
  await using database = await Database.open(':memory:')
  for (const seed of seeds) await loadSeed(database, seed)
  await readSeed(config.dataFolder, 'sessions')
  await readSeed(config.dataFolder, 'messages')
}
