import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../lib/files.ts'

/** Of a data folder in a repository the seeds alone are tracked: the rest holds personal data. */
const IGNORED = '*\n!.gitignore\n!seeds/\n!seeds/**\n'

/** Keeps what is in the data folder out of repositories; a `.gitignore` that is there stays. */
export function keepOutOfGit(dataFolder: string): void {
  try {
    writeFileSync(join(dataFolder, '.gitignore'), IGNORED, { flag: 'wx' })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}
