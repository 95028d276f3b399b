import { describe, expect, it } from 'vitest'

import { createLru } from '../../src/emulator/analytics.ts'

/** An LRU cache of texts that records which keys it computed. */
function texts(capacity: number) {
  const made: string[] = []
  const lru = createLru<string, string>(capacity, (text) => text.length)
  const get = (key: string) =>
    lru(key, () => {
      made.push(key)
      return key
    })
  return { made, get }
}

describe('createLru', () => {
  it('computes a value once while there is room', () => {
    const { made, get } = texts(10)
    expect([get('aa'), get('bb'), get('aa')]).toEqual(['aa', 'bb', 'aa'])
    expect(made).toEqual(['aa', 'bb'])
  })

  it('drops the least recently used value first', () => {
    const { made, get } = texts(4)
    for (const key of ['aa', 'bb', 'aa', 'cc', 'aa', 'bb']) get(key)
    expect(made).toEqual(['aa', 'bb', 'cc', 'bb'])
  })

  it('does not keep a value that is larger than its capacity', () => {
    const { made, get } = texts(4)
    for (const key of ['large', 'large', 'aa', 'aa']) get(key)
    expect(made).toEqual(['large', 'large', 'aa'])
  })
})
