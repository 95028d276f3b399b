import { describe } from 'vitest'
import { exampleStage, isSlow, testExamples } from './examples.ts'

describe('an example of --help that builds or compares', () => {
  testExamples(exampleStage(), isSlow)
})
