import { expect, it } from 'vitest'
import { statementsDigestOf } from '../../src/normalize/base-entities.ts'
import { project } from '../model/alone.ts'

const tables = project.sources.flatMap((source) => source.tables.map(({ name }) => name))

it.each(tables)('models know which statements make %s, so that they follow a change', (table) => {
  expect(statementsDigestOf(table)).toMatch(/^[0-9a-f]{64}$/)
})

it('the statements of a table that base does not have are unknown', () => {
  expect(statementsDigestOf('unheard_of')).toBe('')
})
