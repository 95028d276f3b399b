import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunEvent } from '../../lib/events.ts'
import { orIfMissing } from '../../lib/files.ts'

/** Who the organisations are, and what was learned of the platform's limits. */
const REMEMBERED = ['organisations.json', 'governor', 'windows']

/** The data folder of a verification: removed when it is over, or when the next begins. */
function scratchFolder(dataFolder: string): string {
  return join(dataFolder, 'state', 'verify')
}

/** Makes the folder again. It begins with what is known of the platform, and no day. */
export async function openScratch(dataFolder: string): Promise<string> {
  const scratch = scratchFolder(dataFolder)
  await removeScratch(dataFolder)
  for (const name of REMEMBERED) {
    const copying = cp(join(dataFolder, 'state', name), join(scratch, 'state', name), {
      recursive: true,
    })
    await orIfMissing(copying, undefined)
  }
  return scratch
}

export async function removeScratch(dataFolder: string): Promise<void> {
  await rm(scratchFolder(dataFolder), { recursive: true, force: true })
}

/** What happens in the scratch folder lands in no lake, and the run's record must not say so. */
export function withoutLanding(emit: (event: RunEvent) => void): (event: RunEvent) => void {
  return (event) => {
    if (event.type === 'interval.finished') emit({ ...event, outcome: 'compared' })
    else if (!isOfLanding(event)) emit(event)
  }
}

/** The days that are compared are a sample: what they lack says nothing of when it began. */
function isOfLanding(event: RunEvent): boolean {
  return event.type === 'base.written' || (event.type === 'warning' && event.about === 'drift')
}
