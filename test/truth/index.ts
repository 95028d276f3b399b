export { fetchEverything, type PlatformResponses, type TruthOptions } from './answers.ts'
export { type ActualRow, compare } from './compare.ts'
export { expectedMarts, TABLE_NAMES, type TableName } from './expected.ts'
export type { ExpectedTable } from './table.ts'
