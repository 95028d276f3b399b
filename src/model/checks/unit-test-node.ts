import { ProjectError, type Place } from '../project/errors.ts'
import { unknownName } from '../project/errors.ts'
import { render, type Names } from '../project/render.ts'
import type { GivenRows, Model, UnitTest, UnitTestNode } from '../project/types.ts'
import type { UnitTestInput } from '../project/unit-test-shapes.ts'

/**
 * The model's select with the given rows in place of all that it reads.
 * `names` are those of the project.
 *
 * @throws ProjectError for an unknown model or input, and where the model
 * reads what the test gives no rows of.
 */
export function unitTestNode(
  test: UnitTest,
  models: readonly Model[],
  names: Omit<Names, 'self'>,
): UnitTestNode {
  const { name, description, expect, place } = test
  const model = models.find((each) => each.name === test.model)
  if (model === undefined) {
    const known = models.map((each) => each.name)
    throw unknownName(place, 'model', test.model, known)
  }
  const given = test.given.map(({ input, rows }): GivenRows => ({
    ...inputOf(input, model, names, place),
    rows,
  }))
  const rendered = render(model.template, {
    ...names,
    vars: { ...names.vars, ...test.vars },
    isIncremental: test.isIncremental,
    self: aliasOf('this'),
    models: new Map([...names.models.keys()].map((each) => [each, aliasOf(each)])),
    sourceSql: (source, table) => aliasOf(`${source}.${table}`),
  })
  const read = [...rendered.refs, ...rendered.sources]
  const isThisRead = rendered.sql.includes(aliasOf('this'))
  compare([...read, ...(isThisRead ? ['this'] : [])], given, test)
  const sql = rendered.sql.replace(/;\s*$/, '')
  return { name, description, model: model.name, expect, place, sql, given }
}

type Input = Omit<GivenRows, 'rows'>

function inputOf(
  input: UnitTestInput,
  { name, template }: Model,
  names: Omit<Names, 'self'>,
  place: Place,
): Input {
  if (input.kind === 'this') {
    // its table need not be there yet
    const { sql } = render(template, { ...names, self: names.models.get(name) ?? name })
    return { input: 'this', alias: aliasOf('this'), relation: `(${sql.replace(/;\s*$/, '')}\n)` }
  }
  if (input.kind === 'ref') {
    const relation = names.models.get(input.name)
    if (relation === undefined) throw unknownName(place, 'model', input.name, names.models.keys())
    return { input: `ref('${input.name}')`, alias: aliasOf(input.name), relation }
  }
  const { source, table } = input
  if (names.sources.get(source)?.includes(table) !== true) {
    const known = [...names.sources].flatMap(([each, tables]) => tables.map((t) => `${each}.${t}`))
    throw unknownName(place, 'source', `${source}.${table}`, known)
  }
  return {
    input: `source('${source}', '${table}')`,
    alias: aliasOf(`${source}.${table}`),
    relation: names.sourceSql(source, table),
  }
}

/** A name that no CTE of a model has. */
function aliasOf(name: string): string {
  return `given__${name.replace('.', '__')}`
}

function compare(read: readonly string[], given: readonly GivenRows[], test: UnitTest): void {
  const aliases = read.map(aliasOf)
  const lacking = read.find((name) => given.every(({ alias }) => alias !== aliasOf(name)))
  if (lacking !== undefined) {
    const problem = `unit test '${test.name}' gives no rows of '${lacking}', which '${test.model}' reads`
    throw new ProjectError(test.place, problem, { hint: 'None at all is `rows: []`.' })
  }
  const idle = given.find(({ alias }) => !aliases.includes(alias))
  if (idle === undefined) return
  const problem = `unit test '${test.name}' gives rows of ${idle.input}, which '${test.model}' does not read`
  throw new ProjectError(test.place, problem)
}
