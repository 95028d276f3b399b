import { expect, it } from 'vitest'
import { compileProject } from '../../src/model/project/compile.ts'
import { project } from './alone.ts'

const sourceSql = (_: string, table: string): string => `platform.${table}`

/** Another value of the same kind. */
function changed(value: unknown): unknown {
  return typeof value === 'number' ? value + 1 : value !== true
}

it('no unit test depends on a var of the project, so that a user may change each', () => {
  const { unitTests } = compileProject(project, { sourceSql })
  const depending = Object.entries(project.vars).flatMap(([name, value]) => {
    const vars = { [name]: changed(value) }
    const others = compileProject(project, { sourceSql, vars }).unitTests
    return unitTests.flatMap((test, at) =>
      test.sql === others[at]?.sql ? [] : [`${test.name} of ${test.model} reads ${name}`],
    )
  })
  expect(depending).toEqual([])
})
