import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take minutes, the longest first. Most are short, so they would start last by size. */
const LONGEST = [
  'cli/every-option.deep.ts',
  'cli/echoed-key.deep.ts',
  'flows/fault-mixtures.deep.ts',
  'flows/verify.deep.ts',
  'flows/anomalies.deep.ts',
  'flows/nightly-workflow.deep.ts',
  'flows/integrity.deep.ts',
  'flows/compact.deep.ts',
  'flows/full-disk.deep.ts',
  'flows/rollback.deep.ts',
  'flows/kill.deep.ts',
  'flows/compact-kill.deep.ts',
]

/** The order of the deep suite, so that no long file runs alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}`))
      return place < 0 ? LONGEST.length : place
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
