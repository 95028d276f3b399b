import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take minutes, the longest first. Most are short, so they would start last by size. */
const LONGEST = [
  'cli/echoed-key.deep.ts',
  'cli/every-option-builds.deep.ts',
  'flows/fault-mixtures.deep.ts',
  'flows/compact.deep.ts',
  'flows/verify.deep.ts',
  'cli/terminal-builds.deep.ts',
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
