import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { mapLimit } from '../../src/lib/concurrency.ts'
import { CredentialError, DeferredError } from '../../src/lib/errors.ts'

it('results are in the order of the items, and no more items are worked on than allowed', async () => {
  let [atWork, most] = [0, 0]
  const results = await mapLimit([3, 2, 1], 2, async (turns) => {
    atWork += 1
    most = Math.max(most, atWork)
    for (let turn = 0; turn < turns; turn += 1) await setImmediate()
    atWork -= 1
    return turns
  })
  expect(results).toEqual([3, 2, 1])
  expect(most).toBe(2)
})

it.each<[string, readonly (Error | null)[], string]>([
  ['the only one', [null, new RangeError('a'), null], 'a'],
  ['the first one of the same kind', [new DeferredError('a'), new CredentialError('b')], 'a'],
  ['that which is not expected', [new DeferredError('a'), new RangeError('b')], 'b'],
])('of the errors, %s is thrown when all work has ended', async (_, errors, message) => {
  let ended = 0
  const work = mapLimit(errors, errors.length, async (error) => {
    await setImmediate()
    ended += 1
    if (error !== null) throw error
  })
  await expect(work).rejects.toThrow(message)
  expect(ended).toBe(errors.length)
})

it('after an error no item begins', async () => {
  const begun: number[] = []
  const work = mapLimit([1, 2, 3], 1, (item) => {
    begun.push(item)
    return Promise.reject(new Error('no'))
  })
  await expect(work).rejects.toThrow('no')
  expect(begun).toEqual([1])
})
