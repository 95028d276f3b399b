import { describe, expect, it } from 'vitest'
import { fill } from '../../src/lib/package.ts'

describe('a placeholder of a statement', () => {
  it('is replaced wherever it stands, and its value is not expanded again', () => {
    const values = { a: '$1', b: "'$& {{ a }}'" }
    expect(fill('{{ a }} {{b}} {{ a }}', values)).toBe("$1 '$& {{ a }}' $1")
  })

  it('is an error when it is unknown', () => {
    expect(() => fill('select {{ colum }}', { column_name: 'a' })).toThrow('colum')
  })
})
