import { describe, expect, it } from 'vitest'
import { fill } from '../../src/lib/package.ts'

describe('a placeholder of a statement', () => {
  it('is put in wherever it stands, and what is put in is not read again', () => {
    const values = { a: '$1', b: "'$& {{ a }}'" }
    expect(fill('{{ a }} {{b}} {{ a }}', values)).toBe("$1 '$& {{ a }}' $1")
  })

  it('that is unknown is an error', () => {
    expect(() => fill('select {{ colum }}', { column_name: 'a' })).toThrow('colum')
  })
})
