import { describe } from 'vitest'
import { commonStage, isSlow, testRows } from './every-option.ts'

describe('every option of a command that builds or compares', () => {
  testRows(commonStage(), isSlow)
})
