import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KnownSecrets } from '../../src/core/known-secrets.ts'

const KEY = 'fk-Zq3/9+vX"2\\mLp7=TtR5'
const secrets = new KnownSecrets([KEY])

function unicode(text: string): string {
  return text.replaceAll(/[^]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function percent(text: string, hex = (byte: number) => byte.toString(16).padStart(2, '0')): string {
  return [...Buffer.from(text)].map((byte) => `%${hex(byte)}`).join('')
}

const SPELLINGS: readonly [string, string][] = [
  ['as it is', KEY],
  ['in JSON', JSON.stringify(KEY).slice(1, -1)],
  ['in JSON within JSON', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
  ['in JSON with escaped slashes', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
  ['in JSON, each character escaped', unicode(KEY)],
  ['in JSON within JSON, each character escaped', unicode(KEY).replaceAll('\\', '\\\\')],
  [
    'in JSON, one character escaped',
    KEY.replace('f', '\\u0066').replace('"', '\\"').replace('\\m', '\\\\m'),
  ],
  ['in a URL', encodeURIComponent(KEY)],
  ['in a URL in small letters', percent(KEY)],
  ['in a URL in capitals', percent(KEY, (byte) => byte.toString(16).toUpperCase())],
  ['in a URL within a URL', encodeURIComponent(encodeURIComponent(KEY))],
  ['in hexadecimal', Buffer.from(KEY).toString('hex')],
  ['in HEXADECIMAL', Buffer.from(KEY).toString('hex').toUpperCase()],
]

/** What of the Base64 of a text around the key tells the key. */
const AROUND = ['', 'a', 'ab', 'user:', 'Bearer ']

describe('a known secret', () => {
  test.each(SPELLINGS)('is taken out %s', (_, spelling) => {
    expect(secrets.text(`a ${spelling}, b`)).toBe('a [redacted], b')
    expect(text(secrets.bytes(Buffer.from(`{"a":"${spelling}é"}`)))).toBe('{"a":"[redacted]é"}')
  })

  test.each(AROUND)('is taken out of Base64 that begins with %j', (before) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${before}${KEY}`).toString(encoding)
      expect(secrets.text(`<${encoded}>`)).toMatch(/^<[\w+/-]{0,12}\[redacted\].{0,2}=?=?>$/)
    }
  })

  test('is taken out of a body however it is cut into pieces', () => {
    const parts = fc.array(
      fc.oneof(
        fc.constantFrom(...SPELLINGS.map(([, spelling]) => spelling)),
        fc.string({ maxLength: 9 }),
      ),
    )
    fc.assert(
      fc.property(
        parts,
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
        (said, sizes) => {
          const body = Buffer.from(said.join(' '))
          const filter = secrets.stream()
          const out: Uint8Array[] = []
          for (let at = 0, index = 0; at < body.byteLength; index += 1) {
            const size = sizes[index % sizes.length] ?? 1
            out.push(filter.write(body.subarray(at, at + size)))
            at += size
          }
          out.push(filter.end())
          const clean = Buffer.concat(out).toString()
          for (const [, spelling] of SPELLINGS) expect(clean).not.toContain(spelling)
        },
      ),
    )
  })

  test('leaves every other byte as it was', () => {
    const bytes = fc.uint8Array({ maxLength: 300 })
    fc.assert(
      fc.property(bytes, fc.string(), (first, second) => {
        const body = Buffer.concat([first, Buffer.from(`%41 \\u0041 ${second}`)])
        const filter = new KnownSecrets([KEY]).stream()
        const clean = Buffer.concat([filter.write(body), filter.end()])
        expect(clean.equals(body)).toBe(true)
      }),
    )
  })

  test.each([
    [`the token ${KEY.slice(0, 14)}… is unknown`, 'the token [redacted]… is unknown'],
    [`the token …${KEY.slice(-12)} is unknown`, 'the token …[redacted] is unknown'],
    [`part ${KEY.slice(4, 16)}`, 'part [redacted]'],
    [`hint fk-Z…`, 'hint fk-Z…'],
  ])('is taken out of an error where it was cut off: %s', (said, clean) => {
    expect(secrets.message(said)).toBe(clean)
  })

  test('is taken out of an error, its stack and its causes', () => {
    const innermost = new Error(`inner ${KEY}`)
    const inner = new AggregateError([innermost], `all ${KEY}`)
    const error = new Error(`outer ${KEY}`, { cause: inner })
    secrets.error(error)
    const all = [error, inner, innermost].map((each) => `${each.message} ${each.stack ?? ''}`)
    expect(all.join(' ')).not.toContain(KEY)
    expect(error.message).toBe('outer [redacted]')
  })

  test('is left in data where it is short: it would be found there by chance', () => {
    const short = new KnownSecrets(['test'])
    expect(text(short.bytes(Buffer.from('{"name":"test"}')))).toBe('{"name":"test"}')
    expect(short.text('the key test')).toBe('the key [redacted]')
  })

  test.each([KEY, unicode(KEY), percent(KEY), '%41', '\\u0041', KEY.slice(0, -1), '\\\\\\'])(
    'is looked for in linear time: %j over and over',
    (unit) => {
      const body = Buffer.from(unit.repeat(Math.ceil(4_000_000 / unit.length)))
      const clean = text(secrets.bytes(body))
      expect(clean).not.toContain(KEY)
      expect(secrets.message(body.toString().slice(0, 1_000_000))).not.toContain(KEY)
    },
  )
})

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}
