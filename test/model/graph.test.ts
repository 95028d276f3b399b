import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/lib/errors.ts'
import {
  inOrder,
  select,
  type SelectionState,
  type Selectable,
} from '../../src/model/project/select.ts'

function node(name: string, dependsOn: string[] = [], tags: string[] = []): Selectable {
  return { name, file: `models/${name.slice(0, 3)}/${name}.sql`, dependsOn, tags }
}

/** Nodes whose edges go from later to earlier ones, in any order. */
const graphs = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { maxLength: 12 })
  .map((edges) =>
    edges.map((targets, index) =>
      node(
        `n${String(index)}`,
        index === 0 ? [] : targets.map((each) => `n${String(each % index)}`),
      ),
    ),
  )
  .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }))

describe('the order of models', () => {
  it('has every model once, after those that it reads', () => {
    fc.assert(
      fc.property(graphs, (nodes) => {
        const names = inOrder(nodes).map(({ name }) => name)
        expect([...names].sort()).toEqual(nodes.map(({ name }) => name).sort())
        for (const { name, dependsOn } of nodes) {
          for (const parent of dependsOn)
            expect(names.indexOf(parent)).toBeLessThan(names.indexOf(name))
        }
      }),
    )
  })

  it('does not change what is in order', () => {
    fc.assert(
      fc.property(graphs, (nodes) => {
        const ordered = inOrder(nodes)
        expect(inOrder(ordered)).toEqual(ordered)
      }),
    )
  })

  it('reports a cycle without the path to it', () => {
    const nodes = [node('a', ['b']), node('b', ['c']), node('c', ['d']), node('d', ['b'])]
    expect(() => inOrder(nodes)).toThrow(
      'models/b/b.sql: models depend on each other in a cycle: b -> c -> d -> b',
    )
  })

  it('reports a model that reads itself as a cycle', () => {
    expect(() => inOrder([node('a', ['a'])])).toThrow('a -> a')
  })
})

describe('a selector', () => {
  const nodes = [
    node('stg_a', [], ['raw']),
    node('stg_b'),
    node('int_a', ['stg_a']),
    node('fct_a', ['int_a'], ['mart']),
    node('fct_b', ['stg_b', 'fct_a'], ['mart', 'slow']),
  ]
  const cases: [string, string[]][] = [
    ['fct_a', ['fct_a']],
    ['+fct_a', ['stg_a', 'int_a', 'fct_a']],
    ['int_a+', ['int_a', 'fct_a', 'fct_b']],
    ['+int_a+', ['stg_a', 'int_a', 'fct_a', 'fct_b']],
    ['tag:mart', ['fct_a', 'fct_b']],
    ['+tag:slow', ['stg_a', 'stg_b', 'int_a', 'fct_a', 'fct_b']],
    ['path:models/stg', ['stg_a', 'stg_b']],
    ['path:models/stg/', ['stg_a', 'stg_b']],
    ['path:models/fct/fct_a.sql', ['fct_a']],
    ['path:models/stg+', ['stg_a', 'stg_b', 'int_a', 'fct_a', 'fct_b']],
    ['fct_b  stg_a', ['stg_a', 'fct_b']],
    ['fct_a fct_a', ['fct_a']],
    ['1+fct_a', ['int_a', 'fct_a']],
    ['2+fct_a+1', ['stg_a', 'int_a', 'fct_a', 'fct_b']],
    ['stg_a+1', ['stg_a', 'int_a']],
    ['@stg_a', ['stg_a', 'stg_b', 'int_a', 'fct_a', 'fct_b']],
    ['@stg_b', ['stg_a', 'stg_b', 'int_a', 'fct_a', 'fct_b']],
    ['fct_*', ['fct_a', 'fct_b']],
    ['stg', ['stg_a', 'stg_b']],
    ['fct.fct_b', ['fct_b']],
    ['tag:mart,+fct_a', ['fct_a']],
    ['int_a+,tag:mart stg_b', ['stg_b', 'fct_a', 'fct_b']],
    ['state:new', ['fct_b']],
    ['state:modified', ['int_a', 'fct_b']],
    ['state:modified+', ['int_a', 'fct_a', 'fct_b']],
    ['state:modified,state:old', ['int_a']],
    ['state:unmodified,tag:mart', ['fct_a']],
    ['result:error', ['fct_a']],
    ['result:error+', ['fct_a', 'fct_b']],
    ['result:fail result:warn', ['stg_b']],
    ['result:skipped', []],
  ]
  const state: SelectionState = {
    isNew: (name) => name === 'fct_b',
    isModified: (name) => name === 'fct_b' || name === 'int_a',
    results: new Map([
      ['fct_a', new Set(['error'])],
      ['stg_b', new Set(['success', 'warn'])],
    ]),
  }
  it.each(cases)('selects by %s', (selector, names) => {
    expect(select(nodes, selector, undefined, state).map(({ name }) => name)).toEqual(names)
  })

  it('selects without the excluded models', () => {
    const chosen = (selector: string | undefined, exclude: string) =>
      select(nodes, selector, exclude).map(({ name }) => name)
    expect(chosen('tag:mart', 'fct_b')).toEqual(['fct_a'])
    expect(chosen(undefined, 'int_a+ stg_b')).toEqual(['stg_a'])
  })

  const wrong: [string, string][] = [
    ['fct_c', "Did you mean 'fct_a'?"],
    ['tag:marts', "Did you mean 'tag:mart'?"],
    ['path:models/fct/fct_b', "Did you mean 'path:models/fct/fct_b.sql'?"],
    ['fct_a zzzzzzzz', 'Known: fct_a, fct_b, int_a, stg_a, stg_b.'],
    ['tags:mart', "Did you mean 'tag'?"],
    ['state:modifed', "Did you mean 'modified'?"],
    ['result:errors', "Did you mean 'error'?"],
    ['result:error', 'Build everything first: agent-warehouse build.'],
  ]
  it.each(wrong)('%s matches no models', (selector, hint) => {
    const thrown = expect(() => select(nodes, selector))
    thrown.toThrow(UsageError)
    thrown.toThrow(expect.objectContaining({ hint }))
  })

  it('of only spaces is refused', () => {
    expect(() => select(nodes, '  ')).toThrow('the selector is empty')
  })

  it('with both pluses selects all ancestors and descendants, in order', () => {
    fc.assert(
      fc.property(graphs, fc.nat(), (shuffled, pick) => {
        const all = inOrder(shuffled)
        const chosen = all[pick % Math.max(all.length, 1)]
        if (chosen === undefined) return
        const names = new Set(select(all, `+${chosen.name}+`).map(({ name }) => name))
        const above = new Set(select(all, `+${chosen.name}`).map(({ name }) => name))
        const below = new Set(select(all, `${chosen.name}+`).map(({ name }) => name))
        expect(names).toEqual(new Set([...above, ...below]))
        for (const { name, dependsOn } of all) {
          if (above.has(name)) for (const parent of dependsOn) expect(above.has(parent)).toBe(true)
          if (dependsOn.some((parent) => below.has(parent))) expect(below.has(name)).toBe(true)
        }
        expect([...names]).toEqual(all.map(({ name }) => name).filter((name) => names.has(name)))
      }),
    )
  })
})
