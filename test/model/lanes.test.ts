import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { allOrThrow } from '../../src/lib/concurrency.ts'
import { runScheduled } from '../../src/model/engines/execute.ts'

interface Piece {
  readonly name: string
  readonly dependsOn: readonly string[]
  readonly lane: number
  /** Turns of the loop that it takes. */
  readonly turns: number
}

/** Steps that wait for some of those before them, and for one that is there already. */
const pieces = fc
  .array(
    fc.record({
      lane: fc.integer({ min: 0, max: 1 }),
      turns: fc.integer({ min: 0, max: 3 }),
      after: fc.array(fc.nat(), { maxLength: 3 }),
    }),
    { maxLength: 12 },
  )
  .map((found) =>
    found.map(({ lane, turns, after }, index): Piece => {
      const before = index === 0 ? [] : after.map((each) => String(each % index))
      return { name: String(index), dependsOn: [...before, 'there'], lane, turns }
    }),
  )

const laneOf = ({ lane }: Piece): number => lane

it('every step is worked at once, after those it waits for, and alone in its lane', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, async (steps) => {
      const ended = new Set(['there'])
      const busy = new Set<number>()
      await runScheduled(steps, laneOf, async ({ name, dependsOn, lane, turns }) => {
        expect(dependsOn.filter((each) => !ended.has(each))).toEqual([])
        expect(busy.has(lane)).toBe(false)
        busy.add(lane)
        for (let count = 0; count < turns; count += 1) await turn()
        busy.delete(lane)
        ended.add(name)
      })
      expect(ended.size).toBe(steps.length + 1)
    }),
  )
})

it('a step does not wait for another lane, but for what it depends on', async () => {
  const begun: string[] = []
  let release = (): void => undefined
  const slow = new Promise<void>((resolve) => (release = resolve))
  const step = (name: string, lane: number, ...dependsOn: string[]): Piece => {
    return { name, dependsOn, lane, turns: 0 }
  }
  const steps = [
    step('slow', 0),
    step('after slow', 1, 'slow'),
    step('ready', 1),
    step('last', 1, 'ready'),
  ]
  await runScheduled(steps, laneOf, async ({ name }) => {
    begun.push(name)
    if (name === 'slow') await slow
    if (name === 'last') release()
  })
  expect(begun).toEqual(['slow', 'ready', 'last', 'after slow'])
})

it('after an error nothing begins, and it is thrown when what is under way has ended', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.nat(), async (steps, at) => {
      const failing = steps[at % Math.max(1, steps.length)]?.name
      let underWay = 0
      let hasFailed = false
      const working = runScheduled(steps, laneOf, async ({ name, turns }) => {
        expect(hasFailed).toBe(false)
        underWay += 1
        for (let count = 0; count < turns; count += 1) await turn()
        underWay -= 1
        if (name !== failing) return
        void turn().then(() => (hasFailed = true))
        throw new Error(`${name} failed`)
      })
      const message = await working.then(
        () => null,
        (error: unknown) => String(error),
      )
      expect(message).toBe(failing === undefined ? null : `Error: ${failing} failed`)
      expect(underWay).toBe(0)
    }),
  )
})

it('of several that are awaited together, the first error is thrown when all have ended', async () => {
  let hasEnded = false
  const slow = turn().then(() => {
    hasEnded = true
  })
  await expect(allOrThrow([Promise.reject(new Error('one')), slow])).rejects.toThrow('one')
  expect(hasEnded).toBe(true)
})
