import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { allOrThrow, runScheduled } from '../../src/lib/concurrency.ts'

interface Piece {
  readonly name: string
  readonly dependsOn: readonly string[]
  readonly isPinned: boolean
  /** How many turns of the event loop it takes. */
  readonly turns: number
}

/** Steps that wait for some earlier ones, and for one that exists already. */
const pieces = fc
  .array(
    fc.record({
      isPinned: fc.boolean(),
      turns: fc.integer({ min: 0, max: 3 }),
      after: fc.array(fc.nat(), { maxLength: 3 }),
    }),
    { maxLength: 12 },
  )
  .map((found) =>
    found.map(({ isPinned, turns, after }, index): Piece => {
      const before = index === 0 ? [] : after.map((each) => String(each % index))
      return { name: String(index), dependsOn: [...before, 'there'], isPinned, turns }
    }),
  )

const LANES = ['first', 'second'] as const

it('the scheduler runs every step once, after its dependencies, one at a time in each lane, pinned ones in the first', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, async (steps) => {
      const ended = new Set(['there'])
      const busy = new Set<string>()
      await runScheduled(steps, LANES, async ({ name, dependsOn, isPinned, turns }, lane) => {
        expect(dependsOn.filter((each) => !ended.has(each))).toEqual([])
        expect(busy.has(lane)).toBe(false)
        if (isPinned) expect(lane).toBe('first')
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
  const step = (name: string, isPinned: boolean, ...dependsOn: string[]): Piece => {
    return { name, dependsOn, isPinned, turns: 0 }
  }
  const steps = [
    step('slow', true),
    step('after slow', false, 'slow'),
    step('ready', false),
    step('last', false, 'ready'),
  ]
  await runScheduled(steps, LANES, async ({ name }) => {
    begun.push(name)
    if (name === 'slow') await slow
    if (name === 'last') release()
  })
  expect(begun).toEqual(['slow', 'ready', 'last', 'after slow'])
})

it('the scheduler runs steps that are not pinned in both lanes, in the first after pinned ones', async () => {
  const steps = ['a', 'b', 'pinned', 'c'].map((name) => {
    return { name, dependsOn: [], isPinned: name === 'pinned', turns: 1 }
  })
  const begun: string[] = []
  await runScheduled(steps, LANES, async ({ name }, lane) => {
    begun.push(`${name} in ${lane}`)
    await turn()
  })
  expect(begun.sort()).toEqual(['a in second', 'b in first', 'c in second', 'pinned in first'])
})

it('the scheduler starts nothing after an error, and throws it once running steps have ended', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.nat(), async (steps, at) => {
      const failing = steps[at % Math.max(1, steps.length)]?.name
      let underWay = 0
      let hasFailed = false
      const working = runScheduled(steps, LANES, async ({ name, turns }) => {
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
