import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunEvent } from '../../lib/events.ts'
import { orIfMissing } from '../../lib/files.ts'

/** State about organisations, and the learned limits of the platform. */
const REMEMBERED = ['organisations.json', 'governor', 'windows']

/** The data folder of a verification; it is removed after it, or before the next one. */
function scratchFolder(dataFolder: string): string {
  return join(dataFolder, 'state', 'verify')
}

/** Makes the folder from scratch, with the REMEMBERED state and without days. */
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

/** Changes events of the scratch folder, so that the run's record does not report landed days. */
export function withoutLanding(emit: (event: RunEvent) => void): (event: RunEvent) => void {
  return (event) => {
    if (event.type === 'interval.finished') emit({ ...event, outcome: 'compared' })
    else if (!isOfLanding(event)) emit(event)
  }
}

/** Drift in a sample of days does not show when it began. */
function isOfLanding(event: RunEvent): boolean {
  return event.type === 'base.written' || (event.type === 'warning' && event.about === 'drift')
}
