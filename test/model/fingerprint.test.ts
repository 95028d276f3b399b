import { expect, it } from 'vitest'
import { compileProject } from '../../src/model/project/compile.ts'
import { inputDigests } from '../../src/model/shared/fingerprint.ts'
import { project } from './alone.ts'

const { models } = compileProject(project, { sourceSql: (_, table) => `platform.${table}` })
const [node] = models.filter(({ snapshot }) => snapshot !== null)
const rule = node?.snapshot ?? expect.fail('the project has no snapshot')

function digestsOf(changed: Partial<typeof rule>) {
  const nodes = models.map((each) =>
    each === node ? { ...each, snapshot: { ...rule, ...changed } } : each,
  )
  return inputDigests(nodes, new Set(models.map(({ name }) => name)), new Map(), {
    sourceStatements: () => '',
    movableFolder: null,
    sourceContent: () => 'content',
  })
}

it.each([{ check_cols: ['team'] }, { unique_key: ['user'] }, { hard_deletes: 'ignore' as const }])(
  'a snapshot with another rule was made otherwise: %j',
  (changed) => {
    const [before, after] = [digestsOf({}), digestsOf(changed)]
    const own = models.filter(({ name }) => before.get(name)?.own !== after.get(name)?.own)
    expect(own.map(({ name }) => name)).toEqual([node?.name])
  },
)
