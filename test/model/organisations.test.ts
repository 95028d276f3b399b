import { expect, it } from 'vitest'
import { compileProject } from '../../src/model/project/compile.ts'
import { keyColumns } from '../../src/model/project/properties.ts'
import { project } from './alone.ts'

const compiled = compileProject(project, { sourceSql: (_, table) => `platform.${table}` })

it.each(compiled.models.map((node) => [node.name, node] as const))(
  'law 6: %s has the organisation in its key and in its relationships',
  (_, node) => {
    expect(node.columns.map(({ name }) => name)).toContain('org_id')
    const key = keyColumns(node)
    if (key.length > 0) expect(key).toContain('org_id')
    for (const test of node.tests) expect(test.arguments.kind, test.name).not.toBe('relationships')
  },
)

it.each([...compiled.models, ...compiled.tests].map((node) => [node.name, node.sql] as const))(
  'law 6: no window function of %s spans organisations',
  (_, sql) => {
    expect(sql).not.toMatch(/over\s*\(\s*(order by|\))/)
    for (const [, columns] of sql.matchAll(/partition by([\s\S]*?)(?:order by|\))/g)) {
      expect(columns).toContain('org_id')
    }
  },
)
