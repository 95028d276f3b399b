import type { Config } from '../config/config.ts'
import type { DatabaseLimits } from '../lib/machine.ts'
import { size } from '../lib/text.ts'
import { spillFolder } from '../lib/disk.ts'
import { ok, type Finding } from './finding.ts'

/** What a run may take of the machine, and what says so. */
export function checkMachine({
  limits,
  dataFolder,
}: Pick<Config, 'limits' | 'dataFolder'>): Finding[] {
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
