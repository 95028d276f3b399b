import { describe, expect, it } from 'vitest'
import { suggestion, splitNames } from '../../src/lib/text.ts'

describe('a suggestion for an unknown name', () => {
  const many = Array.from({ length: 108 }, (_, at) => `model_${String(at).padStart(3, '0')}`)

  it('is the nearest name', () => {
    expect(suggestion('modle_007', many)).toBe("Did you mean 'model_007'?")
  })

  it('shares a character with the name', () => {
    expect(suggestion('ab', ['cd'])).toBe('Known: cd.')
    expect(suggestion('x', ['a', 'b'])).toBe('Known: a, b.')
    expect(suggestion('ba', ['b'])).toBe("Did you mean 'b'?")
  })

  it('lists the known names if none is near, the first few of many', () => {
    expect(suggestion('x', ['beta', 'alpha'])).toBe('Known: alpha, beta.')
    expect(suggestion('nothing like it', many)).toMatch(
      /^Known: model_000, .*, model_019 and 88 more\.$/,
    )
    expect(suggestion('x', [])).toBe('None is defined.')
  })
})

describe('names of a list', () => {
  const known = new Set(['acme', 'acme, inc', 'beta'])

  it.each([
    [['acme, inc'], ['acme, inc']],
    [['acme,beta'], ['acme', 'beta']],
    [
      ['beta', 'acme , beta'],
      ['beta', 'acme'],
    ],
    [['acme, inc,beta'], ['acme', 'inc', 'beta']],
  ])('are divided at commas, unless the whole is a known name: %j', (values, names) => {
    expect(splitNames(values, known)).toEqual(names)
  })
})
