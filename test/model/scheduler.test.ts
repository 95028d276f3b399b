import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { allOrThrow } from '../../src/lib/concurrency.ts'
import { runScheduled } from '../../src/model/engines/execute.ts'

interface Piece {
  readonly name: string
  readonly dependsOn: readonly string[]
  readonly lane: number
  /** How many turns of the event loop it takes. */
  readonly turns: number
}

/** Steps that wait for some earlier ones, and for one that exists already. */
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

it('the scheduler runs every step once, after its dependencies, and one at a time in each lane', async () => {
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

it('the scheduler makes a step wait for its dependencies, and not for other lanes', async () => {
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

it('the scheduler starts nothing after an error, and throws it once running steps have ended', async () => {
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

it('allOrThrow throws the first error once all promises have settled', async () => {
  let hasEnded = false
  const slow = turn().then(() => {
    hasEnded = true
  })
  await expect(allOrThrow([Promise.reject(new Error('one')), slow])).rejects.toThrow('one')
  expect(hasEnded).toBe(true)
})
