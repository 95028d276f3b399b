import { describe, expect, it } from 'vitest'
import { Background } from '../../src/lib/concurrency.ts'

interface Begun {
  readonly items: readonly string[]
  readonly end: (error?: Error) => void
}

/** Work of which two run at a time; the test ends each. */
function background(): { behind: Background<string>; begun: Begun[] } {
  const begun: Begun[] = []
  const work = (items: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (error?: Error): void => {
        if (error === undefined) resolve()
        else reject(error)
      }
      begun.push({ items, end })
    })
  return { behind: new Background<string>(work), begun }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('background work', () => {
  it('starts at once while a slot is free; waiting items are then processed together', async () => {
    const { behind, begun } = background()
    for (const item of ['a', 'b', 'c', 'd']) await behind.add(item)
    expect(begun.map(({ items }) => items)).toEqual([['a'], ['b']])
    begun[1]?.end()
    await turn()
    expect(begun.map(({ items }) => items)).toEqual([['a'], ['b'], ['c', 'd']])
    const ended = behind.ended()
    begun[0]?.end()
    begun[2]?.end()
    await ended
  })

  it('accepts another item only while fewer than 32 items wait', async () => {
    const { behind, begun } = background()
    const waiting = Array.from({ length: 31 }, (_, at) => `w${at}`)
    for (const item of ['a', 'b', ...waiting]) await behind.add(item)
    let isAdded = false
    const added = behind.add('last').then(() => (isAdded = true))
    await turn()
    expect(isAdded).toBe(false)
    begun[0]?.end()
    await added
    expect(begun.map(({ items }) => items)).toEqual([['a'], ['b'], [...waiting, 'last']])
    const ended = behind.ended()
    begun[1]?.end()
    begun[2]?.end()
    await ended
  })

  it('rejects further items after a failure, and reports the failure once all work has ended', async () => {
    const { behind, begun } = background()
    for (const item of ['failing', 'slow', 'waiting']) await behind.add(item)
    begun[0]?.end(new Error('no room on the disk'))
    await turn()
    await expect(behind.add('never')).rejects.toThrow('no room')
    expect(begun).toHaveLength(2)
    const ended = behind.ended()
    begun[1]?.end()
    await expect(ended).rejects.toThrow('no room')
  })
})
