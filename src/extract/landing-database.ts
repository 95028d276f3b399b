import { join } from 'node:path'
import { Database } from '../store/duckdb.ts'

/** One thread streams: what it takes does not depend on the day's rows, only on the largest of them. */
export function openLandingDatabase(dataFolder: string): Promise<Database> {
  return Database.open(':memory:', {
    memoryLimit: '512MB',
    threads: 1,
    isFrugal: true,
    tempDirectory: join(dataFolder, 'state', 'spill'),
  })
}
